import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { readNames, writeNames } from '../../../../js/values/python/casing.js';
import { EVENT, SESSION } from '../../../../js/values/python/fields.js';

const parsed = (text: string): unknown => JSON.parse(text);
const snake = (event: unknown): unknown => writeNames(event, EVENT, 'snake');

/** Keys that resemble fields of the ADK. */
const DATA = { state_delta: 1, stateDelta: 2, a_b: { c_d: null }, function_call: { mime_type: 3 } };

describe('Names of an event', () => {
  const camel = {
    invocationId: 'i',
    longRunningToolIds: ['a_b'],
    customMetadata: DATA,
    output: DATA,
    route: 'some_way',
    content: {
      parts: [
        { functionCall: { id: 'c', name: 'f_g', args: DATA, willContinue: true } },
        { functionResponse: { response: DATA, parts: [{ inlineData: { mimeType: 'a/b' } }] } },
        { toolCall: { toolType: 'X', args: DATA } },
        { toolResponse: { toolType: 'X', response: DATA } },
        { text: 'a', thoughtSignature: 'b', partMetadata: DATA },
        { inlineData: { mimeType: 'a/b', displayName: 'c' } },
      ],
    },
    actions: {
      stateDelta: DATA,
      artifactDelta: { 'my_file.txt': 0 },
      requestedAuthConfigs: { call_1: DATA },
      requestedToolConfirmations: { call_1: { hint: 'h', confirmed: true, payload: DATA } },
      agentState: DATA,
      setModelResponse: DATA,
      renderUiWidgets: [{ id: 'w', provider: 'p', payload: DATA }],
      transferToAgent: 'some_agent',
      compaction: {
        startTimestamp: 1,
        compactedContent: { parts: [{ functionCall: { args: DATA }, partMetadata: DATA }] },
      },
    },
    usageMetadata: { promptTokensDetails: [{ tokenCount: 1 }], toolUsePromptTokenCount: 2 },
    groundingMetadata: {
      groundingChunks: [{ retrievedContext: { customMetadata: [{ stringValue: 'a_b' }] } }],
    },
    nodeInfo: { path: 'a_b', outputFor: ['c_d'], messageAsOutput: true },
  };

  it('are written in snake_case, with user data kept exactly', () => {
    assert.deepEqual(snake(camel), {
      invocation_id: 'i',
      long_running_tool_ids: ['a_b'],
      custom_metadata: DATA,
      output: DATA,
      route: 'some_way',
      content: {
        parts: [
          { function_call: { id: 'c', name: 'f_g', args: DATA, will_continue: true } },
          { function_response: { response: DATA, parts: [{ inline_data: { mime_type: 'a/b' } }] } },
          { tool_call: { tool_type: 'X', args: DATA } },
          { tool_response: { tool_type: 'X', response: DATA } },
          { text: 'a', thought_signature: 'b', part_metadata: DATA },
          { inline_data: { mime_type: 'a/b', display_name: 'c' } },
        ],
      },
      actions: {
        state_delta: DATA,
        artifact_delta: { 'my_file.txt': 0 },
        requested_auth_configs: { call_1: DATA },
        requested_tool_confirmations: { call_1: { hint: 'h', confirmed: true, payload: DATA } },
        agent_state: DATA,
        set_model_response: DATA,
        render_ui_widgets: [{ id: 'w', provider: 'p', payload: DATA }],
        transfer_to_agent: 'some_agent',
        compaction: {
          start_timestamp: 1,
          compacted_content: { parts: [{ function_call: { args: DATA }, part_metadata: DATA }] },
        },
      },
      usage_metadata: {
        prompt_tokens_details: [{ token_count: 1 }],
        tool_use_prompt_token_count: 2,
      },
      grounding_metadata: {
        grounding_chunks: [{ retrieved_context: { custom_metadata: [{ string_value: 'a_b' }] } }],
      },
      node_info: { path: 'a_b', output_for: ['c_d'], message_as_output: true },
    });
  });

  it('are read in both casings, even mixed', () => {
    assert.deepEqual(readNames(snake(camel), EVENT), camel);
    assert.deepEqual(readNames(camel, EVENT), camel);
    assert.deepEqual(readNames({ invocation_id: 'i', errorCode: 'e' }, EVENT), {
      invocationId: 'i',
      errorCode: 'e',
    });
  });

  it('keep their order', () => {
    const text =
      '{"branch":"b","invocation_id":"i","zz_z":1,"actions":{"state_delta":{}},"id":"e"}';
    assert.equal(JSON.stringify(snake(readNames(parsed(text), EVENT))), text);
  });

  it('of unknown fields are kept exactly, with everything below them', () => {
    const event = {
      my_field: { invocation_id: null },
      myField: { errorCode: null },
      B_c: 1,
      _d: 2,
      e_: 3,
    };
    assert.deepEqual(readNames(event, EVENT), event);
    assert.deepEqual(snake(event), event);
  });

  it('are read in camelCase if both casings are present, as in Python', () => {
    const both = { invocation_id: 'stranger', invocationId: 'field' };
    assert.deepEqual(readNames(both, EVENT), both);
    assert.deepEqual(snake(both), both);
  });

  it('of unknown fields with a known snake_case name survive both casings', () => {
    const event = { invocation_id: 'stranger', actions: { state_delta: 1, stateDelta: { a: 1 } } };
    for (const casing of ['camel', 'snake'] as const) {
      assert.deepEqual(readNames(writeNames(event, EVENT, casing), EVENT), event);
    }
  });

  it('are fields only in the place of the field', () => {
    // Each is a field elsewhere in an event.
    const names = { file_uri: 1, token_count: null, display_name: { mime_type: 2 } };
    const event = {
      usageMetadata: { ...names, totalTokenCount: 3 },
      groundingMetadata: { groundingChunks: [{ web: names }, names] },
      nodeInfo: { ...names, path: { error_code: 4 } },
      content: { parts: [{ text: { file_uri: 5 }, inlineData: { cache_name: 6 } }] },
    };
    assert.deepEqual(readNames(event, EVENT), event);
    assert.deepEqual(readNames(snake(event), EVENT), event);
  });

  it('that only the TypeScript ADK has are written in snake_case too', () => {
    const event = {
      isCompacted: true,
      actions: { customMetadata: DATA },
      usageMetadata: { responseTokensDetails: [{ tokenCount: 1 }], serviceTier: 'flex' },
    };
    const written = {
      is_compacted: true,
      actions: { custom_metadata: DATA },
      usage_metadata: { response_tokens_details: [{ token_count: 1 }], service_tier: 'flex' },
    };
    assert.deepEqual(snake(event), written);
    assert.deepEqual(readNames(written, EVENT), event);
  });

  it('are omitted if Python has null', () => {
    const event = parsed(
      '{"branch":null,"error_code":null,"x":null,"content":{"parts":[{"text":"a","inline_data":null}]},"actions":{"escalate":null,"state_delta":{"a":null}},"output":{"b":null}}',
    );
    assert.deepEqual(readNames(event, EVENT), {
      x: null,
      content: { parts: [{ text: 'a' }] },
      actions: { stateDelta: { a: null } },
      output: { b: null },
    });
  });

  it('that every object inherits are ordinary names', () => {
    const text = '{"__proto__":{"a_b":1},"constructor":2,"actions":{"__proto__":3}}';
    const event = readNames(parsed(text), EVENT) as object;
    assert.equal(JSON.stringify(event), text);
    assert.equal(JSON.stringify(snake(event)), text);
    assert.equal(Object.getPrototypeOf(event), Object.prototype);
  });

  it('are converted only as deep as an event may nest', () => {
    const text = `{"usage_metadata":${'['.repeat(50_000)}1${']'.repeat(50_000)}}`;
    assert.doesNotThrow(() => readNames(parsed(text), EVENT));
  });
});

it('Names of a session are read and written with those of its events', () => {
  const file = {
    app_name: 'a',
    user_id: 'u',
    state: DATA,
    events: [{ invocation_id: 'i' }],
    last_update_time: 1,
  };
  const session = {
    appName: 'a',
    userId: 'u',
    state: DATA,
    events: [{ invocationId: 'i' }],
    lastUpdateTime: 1,
  };
  assert.deepEqual(readNames(file, SESSION), session);
  assert.deepEqual(writeNames(session, SESSION, 'snake'), file);
});
