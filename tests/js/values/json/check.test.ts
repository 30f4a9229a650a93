import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import fc from 'fast-check';
import { checkEvent, checkState } from '../../../../js/values/json/check.js';
import { replaceLoneSurrogates } from '../../../../js/values/json/text.js';
import { writeJson } from '../../../../js/values/json/write.js';
import { explosive, jsonValue, nested, oddValue, revokedProxy } from './values.js';
import { cases } from '../../../properties.js';

/** The text by the writer, or `undefined` if it refuses. */
function written(value: unknown, rules: 'state' | 'event'): string | undefined {
  try {
    return writeJson(value, { rules });
  } catch {
    return undefined;
  }
}

test("a plain state value has the writer's text, and parses to an equal value", () => {
  let plain = 0;
  fc.assert(
    fc.property(fc.oneof(jsonValue, oddValue), (value) => {
      if (checkState(value) !== 'plain') return;
      plain++;
      const text = JSON.stringify(value);
      assert.equal(text, written(value, 'state'));
      // The clone gives all objects the ordinary prototype, and keeps undefined, holes and −0.
      assert.deepEqual(JSON.parse(text), structuredClone(value));
    }),
    cases(),
  );
  assert.ok(plain > cases().numRuns / 4, `${plain}`);
});

test('a value that the writer refuses is never plain', () => {
  fc.assert(
    fc.property(oddValue, (value) => {
      if (written(value, 'state') === undefined) assert.notEqual(checkState(value), 'plain');
    }),
    cases(),
  );
});

test("a plain event has the writer's text", () => {
  let plain = 0;
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(jsonValue, oddValue)), (value) => {
      if (checkEvent(value) !== 'plain') return;
      plain++;
      assert.equal(replaceLoneSurrogates(JSON.stringify(value)), written(value, 'event'));
    }),
    cases(),
  );
  assert.ok(plain > cases().numRuns / 4, `${plain}`);
});

test('ordinary values are plain', () => {
  const ordinary = { a: [1, 'x', true, null, { b: {} }], __proto: 0, 'a b': -1.5e-7 };
  for (const value of [ordinary, 'x', 0, null, false, [], {}, Object.create(null)]) {
    assert.equal(checkState(value), 'plain');
  }
  assert.equal(checkState(vm.runInNewContext('({ a: [{}] })')), 'plain');
});

const special: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['−0', -0],
  ['NaN', NaN],
  ['a BigInt', 1n],
  ['a symbol', Symbol('s')],
  ['a function', () => 1],
  ['a lone surrogate', '\udc00'],
  ['an undefined member', { a: undefined }],
  ['a hole', new Array(1)],
  ['a lone surrogate in a key', { '\udc00': 1 }],
  ['a Date', new Date()],
  ['a Map', new Map()],
  ['a class instance', new (class Point {})()],
  ['a revoked proxy', revokedProxy({})],
  ['a toJSON that is not enumerable', Object.defineProperty({}, 'toJSON', { value: () => 1 })],
];

for (const [name, value] of special) {
  test(`${name} makes a state value special at any depth`, () => {
    assert.equal(checkState(value), 'special');
    assert.equal(checkState([value]), 'special');
    assert.equal(checkState({ a: [{ b: value }] }), 'special');
  });
}

test('class instances, undefined, NaN and symbols leave an event plain', () => {
  const point = Object.assign(new (class Point {})(), { x: NaN });
  assert.equal(checkEvent({ point, a: undefined, b: [Symbol('s'), -0, '\ud800'] }), 'plain');
});

test('a BigInt, a function, toJSON and a typed array make an event special', () => {
  for (const value of [1n, () => 1, new Date(), new Uint8Array(1), revokedProxy({})]) {
    assert.equal(checkEvent({ a: [value] }), 'special');
    assert.equal(checkEvent({ a: value }), 'special');
  }
});

test('200 levels of state and 250 of an event are plain, and no more', () => {
  assert.equal(checkState(nested(200)), 'plain');
  assert.equal(checkState(nested(201)), 'special');
  assert.equal(checkEvent(nested(250)), 'plain');
  assert.equal(checkEvent(nested(251)), 'special');
  assert.equal(checkState(nested(1_000_000)), 'special');
});

test('cycles are special, however they branch', () => {
  const value: Record<string, unknown> = { wide: Array.from({ length: 50 }, () => ({})) };
  Object.assign(value, { a: value, b: [value, value] });
  assert.equal(checkState(value), 'special');
  assert.equal(checkEvent(value), 'special');
});

test('a value that would be printed endlessly is too large', () => {
  assert.equal(checkState(explosive()), 'too large');
  assert.equal(checkEvent(explosive()), 'too large');
  assert.equal(checkState(new Array(2 ** 32 - 1)), 'too large');
  assert.equal(checkEvent({ a: new Array(2 ** 32 - 1) }), 'too large');
});

test('inherited members are ignored', () => {
  assert.equal(checkEvent({ a: Object.create({ inherited: 1n }) as object }), 'plain');
});

test('a getter may call the check itself', () => {
  const value = (last: unknown) => ({
    a: { b: 1 },
    get c() {
      assert.equal(checkState({ deep: [[[1]]] }), 'plain');
      assert.equal(checkState({ d: 1n }), 'special');
      return { e: 1 };
    },
    last,
  });
  assert.equal(checkState(value([[1n]])), 'special');
  assert.equal(checkState(value(1)), 'plain');
});

test('a failed check does not affect the next one', () => {
  checkState([[], [], [1n, []], {}]);
  checkEvent({
    get a() {
      throw new Error('x');
    },
  });
  assert.equal(checkState([[1]]), 'plain');
});
