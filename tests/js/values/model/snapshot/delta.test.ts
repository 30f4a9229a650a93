import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import fc from 'fast-check';

import { applySnapshot } from '../../../../../js/values/model/event/snapshot.js';
import { snapshotDelta } from '../../../../../js/values/state/delta.js';
import { REMOVED } from '../../../../../js/values/state/scope.js';
import { oddValue, revokedProxy } from '../../json/values.js';
import { refused, snapshotOf, textOf, withDelta } from './snapshots.js';
import { cases } from '../../../../properties.js';

test('temp: keys are in neither text nor delta, and are never read', () => {
  const socket = { send: () => 1, big: 1n, self: revokedProxy({}) };
  const snapshot = snapshotOf(withDelta({ a: 1, 'temp:socket': socket, 'temp:none': undefined }));
  assert.equal(snapshot.deltaText, '{"a":1}');
  assert.deepEqual(Object.keys(snapshot.temp ?? {}), ['temp:socket', 'temp:none']);
  assert.equal(snapshot.temp?.['temp:socket'], socket);
  assert.deepEqual(textOf(snapshot).actions, { stateDelta: { a: 1 } });
});

test('a top-level undefined is a removal, like REMOVED', () => {
  const snapshot = snapshotOf(withDelta({ a: undefined, b: REMOVED, c: null }));
  assert.deepEqual(snapshot.delta, { a: REMOVED, b: REMOVED, c: null });
  assert.deepEqual(JSON.parse(snapshot.deltaText), snapshot.delta);
});

test('a toJSON that returns undefined is a removal', () => {
  const value = { toJSON: () => undefined };
  assert.deepEqual(snapshotDelta({ a: value }).delta, { a: REMOVED });
  assert.deepEqual(snapshotDelta({ a: value }, 'state').delta, { a: REMOVED });
});

test('plain values are in the delta by reference, others as their JSON', () => {
  const plain = { items: [1] };
  const odd = { a: undefined, at: new Date(0), list: [undefined, -0] };
  const { delta, text } = snapshotDelta({ plain, odd, zero: -0 });
  assert.equal(delta.plain, plain);
  assert.deepEqual(delta.odd, { at: '1970-01-01T00:00:00.000Z', list: [null, 0] });
  assert.ok(Object.is(delta.zero, 0));
  assert.deepEqual(JSON.parse(text), delta);
});

test('the delta parsed from its text equals the delta', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 4 }), oddValue), (given) => {
      let snapshot;
      try {
        snapshot = snapshotDelta(given);
      } catch (error) {
        assert.ok(refused('unserializable')(error));
        return;
      }
      assert.deepEqual(JSON.parse(snapshot.text), structuredClone(snapshot.delta));
      assert.equal(Object.getPrototypeOf(snapshot.delta), Object.prototype);
    }),
    cases(),
  );
});

test('the caller’s delta is never changed', () => {
  const delta = Object.freeze({ a: { b: undefined }, 'temp:x': 1, gone: undefined });
  const event = withDelta(delta);
  applySnapshot(event, snapshotOf(event));
  assert.deepEqual(delta, { a: { b: undefined }, 'temp:x': 1, gone: undefined });
  assert.notEqual(event.actions.stateDelta, delta);
});

test('a delta value that JSON cannot represent is refused with its path; the event is unchanged', () => {
  const event = { actions: { stateDelta: { cart: { items: [0, 1, 2, { price: NaN }] } } } };
  assert.throws(() => snapshotOf(event), refused('unserializable', 'cart.items[3].price'));
  assert.deepEqual(Object.keys(event), ['actions']);
});

test('__proto__ and similar names are ordinary delta keys', () => {
  const text = '{"__proto__":{"polluted":1},"constructor":2,"toJSON":3,"":4}';
  const snapshot = snapshotDelta(JSON.parse(text));
  assert.equal(snapshot.text, text);
  assert.deepEqual(Object.keys(snapshot.delta), ['__proto__', 'constructor', 'toJSON', '']);
  assert.equal(Object.getPrototypeOf(snapshot.delta), Object.prototype);
  assert.equal(snapshotDelta(JSON.parse('{"__proto__":[null]}')).text, '{"__proto__":[null]}');
});

test('a delta key with a lone surrogate is refused', () => {
  assert.throws(() => snapshotDelta({ 'a\ud800': 1 }), refused('unserializable', '["a\\ud800"]'));
});

test('a getter of a delta that throws is named in the error', () => {
  const delta = {
    get a(): number {
      throw new Error('lazy');
    },
  };
  assert.throws(() => snapshotDelta(delta), refused('unserializable', 'a'));
});

test('deltas of another realm and without prototype are accepted', () => {
  assert.equal(snapshotDelta(vm.runInNewContext('({ a: { b: [1] } })')).text, '{"a":{"b":[1]}}');
  assert.equal(
    snapshotDelta(Object.assign(Object.create(null) as object, { a: 1 })).text,
    '{"a":1}',
  );
});

test('a missing delta is an empty one', () => {
  assert.deepEqual(snapshotDelta(undefined), {
    text: '{}',
    delta: {},
    hasObjects: false,
    temp: undefined,
  });
});

test('an initial state loses temp: keys, and keeps removals, which may apply to stored user: keys', () => {
  const state = { a: 1, 'user:b': undefined, 'temp:d': () => 1, 'user:e': null };
  const snapshot = snapshotDelta(state, 'state');
  assert.equal(snapshot.text, `{"a":1,"user:b":"${REMOVED}","user:e":null}`);
  assert.deepEqual(snapshot.delta, { a: 1, 'user:b': REMOVED, 'user:e': null });
  assert.deepEqual(Object.keys(snapshot.temp ?? {}), ['temp:d']);
});

test('an initial state that is not a plain object is an invalid argument', () => {
  for (const state of [null, [], 'x', new Map(), () => 1]) {
    assert.throws(() => snapshotDelta(state, 'state'), refused('invalid_argument'));
  }
  assert.deepEqual(snapshotDelta(undefined, 'state').delta, {});
});
