import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { viewOf } from '../../../../js/core/history/rules/view.js';
import { historyView } from '../../../../js/core/history/index.js';
import type { Event } from '../../../../js/index.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import { readVectors } from '../../../interop/history/vectors.js';

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

/** The events of a vector. */
function eventsOf(name: string): Event[] {
  const vector = readVectors().find((vector) => vector.name === name);
  assert.ok(vector, name);
  return [...vector.events];
}

describe('A view of a history', () => {
  for (const { name, events, transcript, summarised, model, contexts } of readVectors()) {
    it(`has what Python and the framework keep: ${name}`, () => {
      const before = JSON.stringify(events);
      const shown = viewOf([...events], 'transcript');
      assert.deepEqual(idsOf(shown.events), transcript);
      assert.deepEqual([...shown.summarised], summarised);
      assert.deepEqual(idsOf(viewOf([...events], 'model').events), model);
      for (const { ids, ...context } of contexts) {
        assert.deepEqual(idsOf(historyView(events, context)), ids, JSON.stringify(context));
      }
      assert.equal(JSON.stringify(events), before, 'the events are not changed');
    });
  }

  it('without markers is the list itself', () => {
    const events = eventsOf('no_marks');
    assert.equal(viewOf(events, 'model').events, events);
    assert.equal(viewOf(events, 'transcript').events, events);
  });

  it('has a summary as an answer of the last agent that it hides', () => {
    const events = eventsOf('several_agents');
    const hidden = events.find(({ id }) => id === 'i1-a')!;
    hidden.customMetadata = { 'a2a:context_id': 'c1' };
    const { compaction } = events.find(({ id }) => id === 's1')!.actions as unknown as {
      compaction: { endTimestamp: number; compactedContent: { role: string; parts: object[] } };
    };
    compaction.compactedContent = {
      role: 'user',
      parts: [{ text: 'hm', thought: true }, { text: 'tea' }],
    };
    const [summary] = viewOf(events, 'model').events;
    assert.deepEqual(summary, {
      id: 'adk-view:s1',
      invocationId: 'inv-s1',
      author: 'root',
      timestamp: compaction.endTimestamp,
      content: { role: 'model', parts: [{ text: 'tea' }] },
      actions: {
        stateDelta: {},
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
      customMetadata: { 'a2a:context_id': 'c1' },
    });
    const [own] = historyView(events, { agentName: 'helper' });
    assert.equal(own?.author, 'helper');
    assert.deepEqual(own.content, compaction.compactedContent, 'Python keeps the content');
  });

  it('has malformed markers as ordinary events', () => {
    const malformed = [
      { rewindBeforeInvocationId: 7 },
      { rewindBeforeInvocationId: '' },
      { compaction: 'all' },
      { compaction: { startTimestamp: 1, endTimestamp: '2', compactedContent: {} } },
      { compaction: { startTimestamp: 1, endTimestamp: 2 } },
      undefined,
      null,
    ];
    const events = malformed.map((actions, at) => ({ id: `e${at}`, invocationId: 'i', actions }));
    const compacted = { id: 'c', invocationId: '', isCompacted: true, endTime: 'now', actions: {} };
    const all = [...eventsOf('summary'), ...events, compacted] as unknown as Event[];
    const shown = idsOf(viewOf(all, 'model').events);
    assert.deepEqual(shown.slice(-8), [...events.map(({ id }) => id), 'c']);
    assert.deepEqual(idsOf(historyView(events as unknown as Event[], { agentName: 'a' })), []);
  });

  it('is refused without events and without an agent', () => {
    const refused = (error: unknown) => isSessionError(error, 'invalid_argument');
    assert.throws(() => historyView({} as Event[], { agentName: 'a' }), refused);
    assert.throws(() => historyView([], {} as { agentName: string }), refused);
  });
});
