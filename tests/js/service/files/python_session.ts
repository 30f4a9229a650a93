import { fileURLToPath } from 'node:url';

/** A session with calls of tools that google-adk 2.13 for Python recorded. */
export const RECORDED = fileURLToPath(
  new URL('../../../vectors/recorded_session.json', import.meta.url),
);

/** Python's form: snake_case, float seconds, and some absent fields as `null`. */
export const pythonSession = {
  id: 's-1',
  app_name: 'shop',
  user_id: 'ada',
  state: { seed_key: { nested_key: 1 }, 'user:user_name': 'Ada' },
  events: [
    {
      id: 'e1',
      invocation_id: 'i1',
      author: 'user',
      timestamp: 1741218414.968405,
      content: { role: 'user', parts: [{ text: 'hi' }] },
      actions: { state_delta: { asked: true }, artifact_delta: {} },
    },
    {
      id: 'e2',
      invocation_id: 'i1',
      author: 'shop_agent',
      timestamp: 1741218415.5,
      branch: null,
      long_running_tool_ids: [],
      custom_metadata: { my_key: { in_ner: 1 } },
      usage_metadata: { prompt_token_count: 3 },
      content: {
        role: 'model',
        parts: [{ function_call: { id: 'c1', name: 'find_item', args: { item_id: 'a_1' } } }],
      },
      actions: {
        state_delta: { asked: false, 'user:user_name': 'Ada', 'temp:scratch_pad': 1 },
        artifact_delta: { 'my_file.txt': 0 },
        transfer_to_agent: null,
        skip_summarization: true,
      },
      my_field: { not_ours: 1 },
    },
    {
      id: 'e3',
      invocation_id: 'i1',
      author: 'shop_agent',
      timestamp: 1741218416,
      content: {
        role: 'user',
        parts: [
          { function_response: { id: 'c1', name: 'find_item', response: { unit_price: null } } },
        ],
      },
      actions: { state_delta: {} },
    },
    {
      id: 'e4',
      invocation_id: 'i2',
      author: 'shop_agent',
      timestamp: 1741218417,
      content: { role: 'model', parts: [{ text: 'bye' }] },
      actions: { state_delta: { asked: '__ADK_SENTINEL_REMOVED__' } },
    },
  ],
  last_update_time: 1741218417.25,
};
