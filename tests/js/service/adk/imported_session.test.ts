import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import * as adk from '@google/adk';

import { InMemorySessionService } from '../../../../js/service/adk/index.js';
import { instructionOf } from './model_script.js';
import {
  exportSession,
  importSession,
  sessionFromFile,
  type SessionFile,
} from '../../../../js/service/files/index.js';
import { instruction } from '../../../../js/service/template/provider.js';
import { pythonSession, RECORDED } from '../files/python_session.js';
import { key } from './scenarios/scenario.js';
import { Stage } from './scenarios/stage.js';

adk.setLogLevel(adk.LogLevel.ERROR);

const PYTHON = { casing: 'snake', timeUnit: 'seconds' } as const;

/** The recorded calls have no ids. The framework sends them without their responses. */
const isOfRecording = (): boolean => true;

/** Runs the next turn of an imported session, by an agent with a scripted model. */
async function nextTurn(
  file: SessionFile,
  name: string,
  template: string,
  mayWait?: (call: string) => boolean,
) {
  const sessionService = new InMemorySessionService();
  await importSession(sessionService, file, key);
  const stage = new Stage(adk, sessionService, mayWait);
  const model = stage.model('Very well.');
  const agent = new adk.LlmAgent({
    name,
    model,
    instruction: instruction(template),
    outputKey: 'last',
  });
  const events = await stage.turn(agent, { text: 'And now?' });
  const after = await exportSession(sessionService, key, PYTHON);
  const [request] = model.requests;
  assert.ok(request);
  return {
    events,
    request,
    after: after as SessionFile & { events: SessionFile[]; state: SessionFile },
  };
}

describe('A session recorded by Python', () => {
  it('continues with the Runner of @google/adk, whose model gets the whole history', async () => {
    const template = 'Help {user:user_name}. {seed_key}';
    const { request, events, after } = await nextTurn(pythonSession, 'shop_agent', template);
    assert.match(instructionOf(request), /Help Ada\. \{"nested_key":1\}/);
    assert.deepEqual(request.contents, [
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: [{ functionCall: { id: 'c1', name: 'find_item', args: { item_id: 'a_1' } } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'find_item', response: { unit_price: null } } },
        ],
      },
      { role: 'model', parts: [{ text: 'bye' }] },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ]);
    assert.deepEqual(
      events.map(({ content }) => content?.parts?.[0]?.text),
      ['Very well.'],
    );
    assert.equal(after.events.length, pythonSession.events.length + 2);
    assert.equal(after.state.last, 'Very well.');
    assert.equal(after.events.at(-1)?.author, 'shop_agent');
  });

  it('continues if absent fields are null, as Python prints them by default', async () => {
    const [question, answer] = [pythonSession.events[0]!, pythonSession.events[3]!];
    const nulls = {
      branch: null, partial: null, turn_complete: null, error_code: null, long_running_tool_ids: null,
      grounding_metadata: null, usage_metadata: null, custom_metadata: null, node_info: null,
    }; // prettier-ignore
    const part = {
      code_execution_result: null,
      function_call: null,
      inline_data: null,
      thought: null,
    };
    const file = {
      ...pythonSession,
      events: [question, answer].map((event) => ({
        ...event,
        ...nulls,
        content: {
          ...event.content,
          parts: event.content.parts.map((given) => ({ ...part, ...given })),
        },
        actions: { ...event.actions, escalate: null, compaction: null, agent_state: null },
      })),
    };
    const { request, after } = await nextTurn(file, 'shop_agent', 'Help.');
    assert.deepEqual(request.contents, [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ text: 'bye' }] },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ]);
    assert.equal(after.events.length, 4);
  });

  it("continues at any length, as with the framework's own service", async () => {
    const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as SessionFile & {
      events: SessionFile[];
    };
    const template = 'Serve {customer_profile}.';
    const { request, after } = await nextTurn(recorded, 'tea_seller', template, isOfRecording);
    assert.match(instructionOf(request), /"first_name":"Ada"/);
    assert.deepEqual(after.events.slice(0, -2), recorded.events);

    const theirs = new adk.InMemorySessionService();
    const { state, events } = sessionFromFile(recorded);
    const session = await theirs.createSession({ ...key, state });
    for (const event of events) await theirs.appendEvent({ session, event });
    const stage = new Stage(adk, theirs, isOfRecording);
    const model = stage.model('Very well.');
    const agent = new adk.LlmAgent({ name: 'tea_seller', model, instruction: template });
    await stage.turn(agent, { text: 'And now?' });
    assert.deepEqual(request.contents, model.requests[0]?.contents);
  });
});
