import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import {
  AnchoredContextCompactor,
  type BaseContextCompactor,
  type BaseSummarizer,
  createEvent,
  LlmAgent,
  Runner,
  type Session,
  TokenBasedContextCompactor,
  TruncatingContextCompactor,
} from '@google/adk';

import { InMemorySessionService } from '../../../js/adk/index.js';
import { ScriptedModel } from '../../../js/examples/demo/scripted_model.js';
import { key, stored } from './fixture.js';

const summarizer: BaseSummarizer = {
  summarize: (events) => {
    const content = { role: 'user', parts: [{ text: `summary of ${events.length}` }] };
    const summary = createEvent({ author: 'system', content });
    const [first, last] = [events[0], events.at(-1)];
    const span = { startTime: first?.timestamp ?? 0, endTime: last?.timestamp ?? 0 };
    return Promise.resolve({ ...summary, ...span, isCompacted: true, compactedContent: 'summary' });
  },
};

/** Runs turns and gives the handle that each ended with, and what is stored in the end. */
async function converse(compactor: BaseContextCompactor, turns: number) {
  const service = new InMemorySessionService();
  await service.createSession(key);
  const replies = Array.from({ length: turns }, (_, number) => `answer ${number}`);
  const agent = new LlmAgent({
    name: 'agent',
    model: new ScriptedModel(replies),
    contextCompactors: [compactor],
    outputKey: 'answer',
  });
  const handles: Session[] = [];
  const open = service.getSession.bind(service);
  service.getSession = async (request) => {
    const session = await open(request);
    if (session !== undefined) handles.push(session);
    return session;
  };
  const runner = new Runner({ appName: key.appName, agent, sessionService: service });
  for (let number = 0; number < turns; number += 1) {
    const newMessage = { role: 'user', parts: [{ text: `question ${number}` }] };
    for await (const event of runner.runAsync({ ...key, newMessage })) {
      assert.equal(event.errorMessage, undefined);
    }
    // The compactors tell events apart by the millisecond.
    await setTimeout(2);
  }
  service.getSession = open;
  return { handles, session: await stored(service) };
}

function assertDistinct({ events }: Session): void {
  const ids = events.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, ids.join(' '));
}

describe('Under a compactor of the framework', () => {
  it('that only cuts the handle, the store keeps everything', async () => {
    const truncating = new TruncatingContextCompactor({ threshold: 2 });
    const { handles, session } = await converse(truncating, 4);
    assert.ok((handles.at(-1)?.events.length ?? 0) < 8);
    assert.equal(session.events.length, 8);
    assert.equal(session.state.answer, 'answer 3');
    [...handles, session].forEach(assertDistinct);
  });

  it('that appends a summary which is on the handle already, it stands there once', async () => {
    const options = { tokenThreshold: 1, eventRetentionSize: 2, summarizer };
    const { handles, session } = await converse(new TokenBasedContextCompactor(options), 5);
    const summaries = session.events.filter((event) => 'isCompacted' in event);
    assert.ok(summaries.length > 1);
    assert.equal(session.events.length, 10 + summaries.length);
    [...handles, session].forEach(assertDistinct);
  });

  it('that rebuilds the handle around a summary, the store has each event once', async () => {
    const options = { tokenThreshold: 1, eventRetentionSize: 3, summarizer };
    const { session } = await converse(new AnchoredContextCompactor(options), 5);
    const summaries = session.events.filter((event) => 'isScratchpad' in event);
    assert.ok(summaries.length > 1);
    assert.equal(session.events.length, 10 + summaries.length);
    // On the handle, this compactor repeats events by itself, whatever the service.
    assertDistinct(session);
  });

  it('whose summary takes the place of one event, it stands there once', async () => {
    // The handle is as long as before, and ends with the same event.
    const options = { tokenThreshold: 1, eventRetentionSize: 4, summarizer };
    const { handles } = await converse(new AnchoredContextCompactor(options), 3);
    handles.forEach(assertDistinct);
  });
});
