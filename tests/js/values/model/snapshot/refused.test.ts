import { MAX_TIMESTAMP } from '../../../../../js/values/model/values/time.js';
import assert from 'node:assert/strict';
import test from 'node:test';

import { isSessionError } from '../../../../../js/values/errors/errors.js';
import { snapshotDelta } from '../../../../../js/values/state/delta.js';
import { explosive, nested, revokedProxy } from '../../json/values.js';
import { complete, refused, snapshotOf, withDelta } from './snapshots.js';

const wrong: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['undefined', undefined],
  ['a string', 'event'],
  ['an array', []],
  ['a function', () => 1],
  ['a boxed number', new Number(5)],
  ['a boxed string', new String('event')],
  ['a toJSON that returns a boxed number', complete({ toJSON: () => new Number(5) })],
  ['actions that are a boxed boolean', complete({ actions: new Boolean(true) })],
  ['content that is a boxed string', complete({ content: new String('Tea?') })],
  ['an id that is a number', complete({ id: 5 })],
  ['an id that is null', complete({ id: null })],
  ['an id with a lone surrogate', complete({ id: 'a\ud800' })],
  ['an id of 513 bytes', complete({ id: 'é'.repeat(256) + 'x' })],
  ['a timestamp of NaN', complete({ timestamp: NaN })],
  ['a timestamp before 1970', complete({ timestamp: -1 })],
  ['a timestamp after 9999', complete({ timestamp: MAX_TIMESTAMP + 1 })],
  ['a timestamp that is text', complete({ timestamp: '5' })],
  ['a timestamp that is null', complete({ timestamp: null })],
  ['actions that are null', complete({ actions: null })],
  ['actions that are a string', complete({ actions: 'x' })],
  ['actions that are an array', complete({ actions: [] })],
  ['a delta that is null', withDelta(null)],
  ['a delta that is an array', withDelta([])],
  ['a delta that is a Map', withDelta(new Map())],
  ['a delta that is a revoked proxy', withDelta(revokedProxy({}))],
  ['a revoked proxy', revokedProxy({})],
  [
    'a getter that throws',
    complete({
      actions: {
        get stateDelta() {
          throw new Error('x');
        },
      },
    }),
  ],
];

for (const [name, event] of wrong) {
  test(`${name} is an invalid argument`, () => {
    assert.throws(() => snapshotOf(event), refused('invalid_argument'));
  });
}

test('ids of 512 bytes and the first and last timestamp are accepted', () => {
  assert.equal(snapshotOf(complete({ id: 'é'.repeat(256) })).id, 'é'.repeat(256));
  assert.equal(snapshotOf(complete({ timestamp: 0 })).timestamp, 0);
  assert.equal(snapshotOf(complete({ timestamp: MAX_TIMESTAMP })).timestamp, MAX_TIMESTAMP);
  assert.ok(Object.is(snapshotOf(complete({ timestamp: -0 })).timestamp, 0));
});

test('a state value of 200 levels is accepted, one of 201 is not', () => {
  snapshotOf(withDelta({ deep: nested(200) }));
  assert.throws(() => snapshotOf(withDelta({ deep: nested(201) })), refused('unserializable'));
});

test('an event of 250 levels is accepted, one of 251 or a million is not', () => {
  snapshotOf(complete({ output: nested(249) }));
  for (const levels of [250, 1_000_000]) {
    assert.throws(
      () => snapshotOf(complete({ output: nested(levels) })),
      refused('unserializable'),
    );
  }
});

test('an event with too many values is refused', () => {
  assert.throws(() => snapshotDelta({ a: explosive() }), refused('unserializable', 'a'));
  assert.throws(() => snapshotOf(complete({ output: explosive() })), refused('unserializable'));
  const sparse = new Array(2 ** 32 - 1);
  assert.throws(() => snapshotDelta({ a: sparse }, 'state'), refused('unserializable', 'a'));
});

test("text longer than the engine's limit is refused", (t) => {
  // The real thing takes a gigabyte and some seconds.
  const thrown = new RangeError('Invalid string length');
  t.mock.method(JSON, 'stringify', () => {
    throw thrown;
  });
  assert.throws(
    () => snapshotOf(complete()),
    (error) => {
      t.mock.restoreAll();
      assert.ok(isSessionError(error, 'quota_exceeded'));
      return error.cause === thrown;
    },
  );
});
