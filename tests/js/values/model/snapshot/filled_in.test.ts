import assert from 'node:assert/strict';
import test from 'node:test';

import { createEvent } from '../../../../../js/values/model/event/create_event.js';
import type { Event } from '../../../../../js/values/model/event/event.js';
import { applySnapshot, snapshotEvent } from '../../../../../js/values/model/event/snapshot.js';
import { complete, NOW, refused, snapshotOf, textOf, withDelta } from './snapshots.js';

test('a missing id and timestamp are filled in, on the event too', () => {
  const event: Record<string, unknown> = { author: 'a' };
  const snapshot = snapshotOf(event);
  assert.deepEqual([snapshot.id, snapshot.timestamp], ['new-id', NOW]);
  assert.deepEqual(event, { author: 'a', id: 'new-id', timestamp: NOW });
  assert.deepEqual(Object.keys(textOf(snapshot)), ['author', 'id', 'timestamp', 'actions']);
});

test('an empty id is filled in at its position', () => {
  const event = { id: '', author: 'a', timestamp: undefined };
  snapshotOf(event);
  assert.deepEqual(Object.entries(event), [
    ['id', 'new-id'],
    ['author', 'a'],
    ['timestamp', NOW],
  ]);
});

test("a clock's fraction is cut off, a given one is kept", () => {
  const event = { ...complete(), timestamp: undefined } as unknown as Event;
  assert.equal(
    snapshotEvent(
      event,
      () => 5.75,
      () => 'x',
    ).timestamp,
    5,
  );
  assert.equal(textOf(snapshotOf(complete({ timestamp: 5.25 }))).timestamp, 5.25);
});

test('applySnapshot sets missing actions, and keeps existing ones', () => {
  const bare = { id: 'e1', timestamp: 1 } as unknown as Event;
  applySnapshot(bare, snapshotOf(bare));
  assert.deepEqual(bare.actions, createEvent().actions);
  const event = withDelta({ a: 1, 'temp:b': 2 });
  const { actions } = event;
  applySnapshot(event, snapshotOf(event));
  assert.equal(event.actions, actions);
  assert.deepEqual(actions.stateDelta, { a: 1 });
});

test('applySnapshot does not throw when the event was frozen in the meantime', () => {
  const event = withDelta({ a: 1, 'temp:b': 2 });
  const snapshot = snapshotOf(event);
  Object.freeze(event.actions);
  applySnapshot(event, snapshot);
});

const unwritable: readonly (readonly [string, () => object])[] = [
  ['without id', () => Object.freeze({ timestamp: 1, actions: { stateDelta: {} } })],
  ['without timestamp', () => Object.preventExtensions({ id: 'e', actions: { stateDelta: {} } })],
  ['without actions', () => Object.preventExtensions({ id: 'e', timestamp: 1 })],
  ['with frozen actions', () => complete({ actions: Object.freeze({ stateDelta: {} }) })],
  ['with sealed actions without delta', () => complete({ actions: Object.seal({}) })],
  [
    'with a delta that is a getter',
    () =>
      complete({
        actions: {
          get stateDelta() {
            return {};
          },
        },
      }),
  ],
  [
    'with a read-only empty id',
    () => Object.defineProperty(complete(), 'id', { value: '', writable: false }),
  ],
];

for (const [name, make] of unwritable) {
  test(`an event that cannot be filled in, ${name}, is refused and unchanged`, () => {
    const event = make();
    const before = JSON.stringify(event);
    assert.throws(() => snapshotOf(event), refused('invalid_argument'));
    assert.equal(JSON.stringify(event), before);
  });
}

test('a frozen event with all fields and its own actions is accepted', () => {
  const event = Object.freeze(withDelta({ a: 1, 'temp:b': 1 }));
  applySnapshot(event, snapshotOf(event));
  assert.deepEqual(event.actions.stateDelta, { a: 1 });
});

test('inherited getters are overridden, not assigned to', () => {
  class Lazy {
    author = 'a';
    get actions(): undefined {
      return undefined;
    }
  }
  const event = new Lazy();
  applySnapshot(event as unknown as Event, snapshotOf(event));
  assert.deepEqual(Object.keys(event), ['author', 'id', 'timestamp', 'actions']);
});
