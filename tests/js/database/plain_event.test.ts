import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { parsedRow, projected } from '../../../js/database/event_data.js';
import { fromPlainPython, toPlainPython } from '../../../js/database/plain_event.js';
import { createEvent } from '../../../js/event.js';
import { REMOVED } from '../../../js/scope.js';
import { hostileEvents, pythonEvents } from './arbitrary_events.js';

const event = (more: object = {}): ReturnType<typeof createEvent> =>
  createEvent({ id: 'e', invocationId: 'i', author: 'user', timestamp: 1500.25, ...more });

const whole = event({
  content: {
    role: 'model',
    parts: [
      { text: 'He said "\\"', thought: true, thoughtSignature: 'AAAA' },
      { functionCall: { id: 'f', name: 'look_up', args: { a_b: [null, -1.5, { cD: '' }] } } },
    ],
  },
  usageMetadata: {
    totalTokenCount: 12,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }],
  },
  longRunningToolIds: [],
  actions: { stateDelta: { 'app:n': 1, o: {} }, artifactDelta: { 'a.txt': 0 }, escalate: false },
});

describe('a plain event', () => {
  it('becomes what it becomes on the long road', () => {
    const text = JSON.stringify(whole);
    assert.notEqual(toPlainPython(text), undefined);
    assert.deepEqual(toPlainPython(text), projected(text));
  });

  it('is read as on the long road', () => {
    const columns = projected(JSON.stringify(whole));
    const back = fromPlainPython(columns.eventData, 'e');
    assert.deepEqual(back, { text: JSON.stringify(whole), timestamp: 1500.25 });
    assert.deepEqual(back, parsedRow(columns.eventData, { ...columns, timeMicros: 0 }));
  });

  it('is any that both roads take, with the same results there and back', () => {
    let taken = 0;
    const events = fc.oneof(pythonEvents, hostileEvents);
    fc.assert(
      fc.property(events, (some) => {
        const text = JSON.stringify(some);
        const columns = projected(text);
        const plain = toPlainPython(text);
        if (plain !== undefined) assert.deepEqual(plain, columns);
        const back = fromPlainPython(columns.eventData, columns.id);
        if (back === undefined) return;
        assert.deepEqual(back, parsedRow(columns.eventData, { ...columns, timeMicros: 0 }));
        taken += 1;
      }),
      { numRuns: 3000 },
    );
    assert.ok(taken > 100, `only ${taken} were plain`);
  });

  const others: [what: string, event: object][] = [
    ['has a field that Python does not know', event({ myField: 1 })],
    ['has one within a part', event({ content: { parts: [{ text: 'a', newKind: {} }] } })],
    ['has a value that Python refuses', event({ author: 5 })],
    ['has a null', event({ branch: null })],
    ['lacks its author', { ...event(), author: undefined }],
    ['lacks its actions', { ...event(), actions: undefined }],
    ['lacks one of their maps', { ...event(), actions: { stateDelta: {} } }],
    ['has node info', event({ nodeInfo: { path: '' } })],
    ['removes a key', event({ actions: { stateDelta: { a: REMOVED } } })],
    ['has a compaction', event({ actions: { compaction: { startTimestamp: 1 } } })],
    ['has bytes that are no base64', event({ content: { parts: [{ thoughtSignature: 'A' }] } })],
    ['has an integer that may be rounded', event({ output: 2 ** 60 })],
    ['has a time past what Python has', event({ timestamp: 1e18 })],
  ];
  for (const [what, other] of others) {
    it(`is none that ${what}`, () => {
      const text = JSON.stringify(other);
      assert.equal(toPlainPython(text), undefined);
      const { eventData, id } = projected(text);
      const back = fromPlainPython(eventData, id);
      if (back !== undefined) assert.equal(back.text, parsedRow(eventData, ROW).text);
    });
  }

  it('is none of another id than its row, or with blanks, or cut off', () => {
    const { eventData } = projected(JSON.stringify(whole));
    assert.equal(fromPlainPython(eventData, 'f'), undefined);
    assert.equal(fromPlainPython(eventData.replace(':', ': '), 'e'), undefined);
    for (let end = 0; end < eventData.length; end += 1) {
      assert.equal(fromPlainPython(eventData.slice(0, end), 'e'), undefined);
    }
  });
});

const ROW = { id: 'e', invocationId: 'i', eventData: null, timeMicros: 0 };
