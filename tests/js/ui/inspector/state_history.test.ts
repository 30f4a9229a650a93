import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService, State } from '../../../../js/index.js';
import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import { readHistory } from '../../../../js/ui/inspector/state/key_changes.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const set = (id: string, stateDelta: Record<string, unknown>) =>
  createEvent({ id, invocationId: 'i1', author: 'guide', actions: { stateDelta } });

/** Each change as `event: before → after`. */
async function linesOf(service: InMemorySessionService, stateKey: string): Promise<string[]> {
  const { changes } = await readHistory(service, KEY, stateKey);
  return changes.map(({ event, before, isBeforeKnown, after }) => {
    const from = isBeforeKnown ? JSON.stringify(before) : 'not known';
    return `${event.id}: ${from} → ${JSON.stringify(after)}`;
  });
}

describe('The history of a key', () => {
  it('has the events that set it, with the values before and after', async () => {
    const service = new InMemorySessionService();
    const events = [
      set('e1', { topic: 'tea' }),
      set('e2', { other: 1 }),
      set('e3', { topic: State.REMOVED }),
      set('e4', { topic: { kind: 'green' } }),
    ];
    await service.createSession({ ...KEY, state: { topic: 'coffee' }, events });
    assert.deepEqual(await linesOf(service, 'topic'), [
      'e4: undefined → {"kind":"green"}',
      'e3: "tea" → undefined',
      'e1: "coffee" → "tea"',
    ]);
    assert.deepEqual(await linesOf(service, 'other'), ['e2: undefined → 1']);
    assert.deepEqual(await linesOf(service, 'nothing'), []);
  });

  it('has after a rewind the value of its cut, and not what its delta says', async () => {
    const service = new InMemorySessionService();
    const say = (invocationId: string, stateDelta: Record<string, unknown>) =>
      createEvent({ id: invocationId, invocationId, author: 'guide', actions: { stateDelta } });
    const events = [say('i1', { nothing: null }), say('i2', { topic: 'tea', nothing: 1 })];
    await service.createSession({ ...KEY, state: {}, events });
    await rewind(service, { ...KEY, before: { invocationId: 'i2' } });
    await undoRewind(service, KEY);
    const lines = async (stateKey: string) =>
      (await linesOf(service, stateKey)).map((line) => line.replace(/^[^:]+: /, ''));
    assert.deepEqual(await lines('topic'), [
      'undefined → "tea"',
      '"tea" → undefined',
      'undefined → "tea"',
    ]);
    assert.deepEqual(await lines('nothing'), [
      'null → 1',
      '1 → null',
      'null → 1',
      'undefined → null',
    ]);
  });

  it('does not claim to know the first value of a shared key', async () => {
    const service = new InMemorySessionService();
    await service.createSession({
      ...KEY,
      events: [set('e1', { 'user:name': 'Ada' }), set('e2', { 'user:name': 'Eva' })],
    });
    assert.deepEqual(await linesOf(service, 'user:name'), [
      'e2: "Ada" → "Eva"',
      'e1: not known → "Ada"',
    ]);
  });

  it('takes no member of Object.prototype for a change', async () => {
    const service = new InMemorySessionService();
    const delta = JSON.parse('{"__proto__": 1}') as Record<string, unknown>;
    await service.createSession({
      ...KEY,
      state: {},
      events: [set('e1', { topic: 'tea' }), set('e2', delta)],
    });
    assert.deepEqual(await linesOf(service, 'toString'), []);
    assert.deepEqual(await linesOf(service, '__proto__'), ['e2: undefined → 1']);
  });

  it('continues where it stopped', async () => {
    const service = new InMemorySessionService();
    const events = Array.from({ length: 1600 }, (_, at) =>
      set(`e${at}`, at % 100 === 0 ? { topic: at } : {}),
    );
    await service.createSession({ ...KEY, events });
    const first = await readHistory(service, KEY, 'topic');
    assert.equal(first.changes.length, 10);
    assert.notEqual(first.before, undefined);
    assert.equal(first.changes.at(-1)?.isBeforeKnown, false);
    const whole = await readHistory(service, KEY, 'topic', first);
    assert.equal(whole.changes.length, 16);
    assert.equal(whole.before, undefined);
    assert.equal(whole.readCount, 1600);
    assert.deepEqual(
      whole.changes.map(({ before }) => before),
      [1400, 1300, 1200, 1100, 1000, 900, 800, 700, 600, 500, 400, 300, 200, 100, 0, undefined],
    );
  });
});
