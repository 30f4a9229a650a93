import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { FunctionTool, LlmAgent, Runner } from '@google/adk';

import { InMemorySessionService } from '../../../../../js/service/adk/index.js';
import { createEventActions } from '../../../../../js/index.js';
import { type Part, RecordingModel } from '../histories/conversation.js';

const KEY = { appName: 'app', userId: 'u', sessionId: 's' };

/**
 * A tool asks for a confirmation. Turns follow, a compaction of Python covers all or the last events, turns follow again,
 * and the answer comes last.
 */
async function approveLate(
  service: InMemorySessionService,
  compacted: 'all' | number,
): Promise<{ ran: number; last: Part }> {
  await service.createSession(KEY);
  let ran = 0;
  const work = new FunctionTool({
    name: 'work',
    description: 'works',
    requireConfirmation: true,
    execute: () => {
      ran += 1;
      return { done: true };
    },
  });
  const model = new RecordingModel([], ({ text, functionResponse }) =>
    text === 'work!'
      ? [{ functionCall: { name: 'work', args: {} } }]
      : [{ text: functionResponse === undefined ? 'hello' : 'It is done.' }],
  );
  const agent = new LlmAgent({ name: 'root', model, tools: [work] });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService: service });
  let last: Part = {};
  const send = async (part: Part): Promise<void> => {
    const newMessage = { role: 'user', parts: [part] };
    for await (const event of runner.runAsync({ ...KEY, newMessage })) {
      assert.equal(event.errorMessage, undefined);
      last = event.content?.parts?.[0] ?? {};
    }
  };
  await send({ text: 'work!' });
  const question = last.functionCall;
  for (let turn = 0; turn < 30; turn += 1) await send({ text: `turn ${turn}` });
  const raw = (await service.getSession({
    ...KEY,
    config: { view: 'raw', numRecentEvents: compacted },
  }))!;
  const compaction = {
    startTimestamp: raw.events[0]!.timestamp,
    endTimestamp: raw.events.at(-1)!.timestamp,
    compactedContent: { role: 'model', parts: [{ text: 'SUM' }] },
  };
  const actions = createEventActions({ compaction } as object);
  await service.appendEvent({
    session: raw,
    event: { invocationId: 'c', author: 'user', actions },
  });
  await new Promise((resolve) => setTimeout(resolve, 2));
  for (let turn = 0; turn < 30; turn += 1) await send({ text: `later ${turn}` });
  const { id, name } = question!;
  await send({ functionResponse: { id: id!, name: name!, response: { confirmed: true } } });
  return { ran, last };
}

const READS = [
  ['a whole session', {}],
  ['a window', { numRecentEvents: 4 }],
] as const;

const PLACES = [
  ['in', 'all'],
  ['before', 4],
] as const;

describe('A tool whose approval comes after a compaction', () => {
  for (const [read, options] of READS) {
    for (const [place, compacted] of PLACES) {
      it(`runs once, and the model gets its response, with ${read} and the call ${place} the range`, async () => {
        const { ran, last } = await approveLate(new InMemorySessionService(options), compacted);
        assert.deepEqual([ran, last.text], [1, 'It is done.']);
      });
    }
  }
});
