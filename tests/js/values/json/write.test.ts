import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import fc from 'fast-check';
import { isSessionError, type SessionError } from '../../../../js/values/errors/errors.js';
import { MAX_EVENT_LEVELS, MAX_STATE_LEVELS } from '../../../../js/values/json/rules.js';
import { replaceLoneSurrogates } from '../../../../js/values/json/text.js';
import { writeJson } from '../../../../js/values/json/write.js';
import { cpuTime } from '../../cpu_time.js';
import { explosive, jsonValue, nested, oddValue, revokedProxy } from './values.js';
import { cases } from '../../../properties.js';

const state = { rules: 'state' } as const;
const event = { rules: 'event' } as const;

/** The error that writing `value` at `path` gives. */
function refusal(value: unknown, rules: 'state' | 'event', ...path: string[]): SessionError {
  try {
    writeJson(value, { rules, path });
  } catch (error) {
    assert.ok(isSessionError(error, 'unserializable'), String(error));
    return error;
  }
  return assert.fail('it was written');
}

test('JSON values have the text of JSON.stringify under both rules', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const text = JSON.stringify(value);
      if (!text.includes('\\ud')) assert.equal(writeJson(value, state), text);
      assert.equal(writeJson(value, event), replaceLoneSurrogates(text));
    }),
  );
});

test('any value that JSON.stringify prints has its text under event rules', () => {
  fc.assert(
    fc.property(oddValue, (value) => {
      const text: string | undefined = JSON.stringify(value);
      assert.equal(writeJson(value, event), text && replaceLoneSurrogates(text));
    }),
    cases(),
  );
});

const unsayable: readonly (readonly [string, () => unknown])[] = [
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('s')],
  ['a BigInt', () => 1n],
  ['NaN', () => NaN],
  ['Infinity', () => Infinity],
  ['−Infinity', () => -Infinity],
  ['a Map', () => new Map()],
  ['a Set', () => new Set()],
  ['a class instance', () => new (class Point {})()],
  ['a typed array', () => new Uint8Array(2)],
  ['a boxed number', () => new Number(1)],
  ['a boxed string', () => new String('s')],
  ['a promise', () => Promise.resolve()],
  ['a regular expression', () => /x/],
  ['an error', () => new Error('x')],
  ['a lone surrogate', () => '\ud800'],
  ['a Map of another realm', () => vm.runInNewContext('new Map()') as unknown],
  ['the result of a toJSON', () => ({ toJSON: () => 1n })],
  [
    'a cycle',
    () => {
      const value: unknown[] = [];
      value.push({ value });
      return value;
    },
  ],
  ['a revoked proxy', () => revokedProxy({})],
  ['a revoked proxy of an array', () => revokedProxy([])],
];

for (const [name, make] of unsayable) {
  test(`under state rules, ${name} is refused, with its path`, () => {
    const error = refusal({ items: [0, { 'unit-price': make() }] }, 'state', 'cart');
    const path = 'cart.items[1]["unit-price"]';
    assert.ok(error.path?.startsWith(path), error.path);
    assert.ok(error.message.startsWith(path), error.message);
  });
}

test('the path leads to the refused value', () => {
  assert.equal(refusal([[{ a: { b: 1n } }]], 'state', 'x').path, 'x[0][0].a.b');
  assert.equal(refusal([1, [2], 3n], 'state', 'x').path, 'x[2]');
  assert.equal(refusal({ a: { b: {} }, c: NaN }, 'state', 'x').path, 'x.c');
  assert.equal(refusal(1n, 'event').path, '');
});

test('a cycle is reported with both of its ends', () => {
  const cart: { items: object[] } = { items: [] };
  cart.items.push({ owner: cart.items });
  const error = refusal(cart, 'state', 'cart');
  assert.equal(error.path, 'cart.items[0].owner');
  assert.match(error.message, /refers back to cart\.items\./);
});

test('a lone surrogate in a key is refused', () => {
  assert.equal(refusal({ 'a\ud800': 1 }, 'state', 'x').path, 'x["a\\ud800"]');
});

test('under event rules, a BigInt is refused even if it was given a toJSON', (t) => {
  Object.defineProperty(BigInt.prototype, 'toJSON', { value: () => '1', configurable: true });
  t.after(() => Reflect.deleteProperty(BigInt.prototype, 'toJSON'));
  assert.equal(refusal({ a: [1n] }, 'event').path, 'a[0]');
});

test('under event rules, a cycle is refused', () => {
  const value: Record<string, unknown> = {};
  value.self = value;
  assert.equal(refusal(value, 'event').path, 'self');
});

test('an endless chain of toJSON results is refused by its depth', () => {
  const value = { toJSON: () => ({ value }) };
  assert.match(refusal(value, 'event').message, /nests deeper than 250 levels/);
});

test('objects referenced twice are written twice', () => {
  const shared = { a: 1 };
  assert.equal(writeJson([shared, shared], state), '[{"a":1},{"a":1}]');
});

test('objects that would be written too often are refused', () => {
  assert.match(refusal(explosive(), 'state').message, /more than 5000000 values/);
});

test('the maximum number of levels is written, and no more', () => {
  assert.equal(writeJson(nested(MAX_STATE_LEVELS), state), JSON.stringify(nested(200)));
  assert.equal(refusal(nested(MAX_STATE_LEVELS + 1), 'state', 'x').path, `x${'[0]'.repeat(200)}`);
  assert.equal(writeJson(nested(MAX_EVENT_LEVELS), event), JSON.stringify(nested(250)));
  refusal(nested(MAX_EVENT_LEVELS + 1), 'event');
});

test('a million levels do not overflow the stack', () => {
  refusal(nested(1_000_000), 'state');
  refusal(nested(1_000_000), 'event');
});

test('a sparse array of maximum length is refused at once', () => {
  const value = { a: new Array(2 ** 32 - 1) };
  const time = cpuTime(() => assert.equal(refusal(value, 'event').path, 'a'));
  assert.ok(time < 500, `${time} ms`);
});

test('the bytes of a video are refused at once', () => {
  const value = { a: new Uint8Array(50_000_000) };
  const time = cpuTime(() => assert.equal(refusal(value, 'event').path, 'a'));
  assert.ok(time < 500, `${time} ms`);
});

test('undefined members are omitted, undefined elements and holes are null, and −0 is 0', () => {
  assert.equal(
    writeJson({ a: undefined, b: [undefined, , -0], c: -0 }, state),
    '{"b":[null,null,0],"c":0}',
  );
});

test('objects of another realm and without prototype are plain', () => {
  const foreign: unknown = vm.runInNewContext('({ a: [1, { b: 2 }], c: Object.create(null) })');
  assert.equal(writeJson(foreign, state), '{"a":[1,{"b":2}],"c":{}}');
});

test('toJSON gets the key and `this` as from JSON.stringify', () => {
  const seen: unknown[] = [];
  const value = {
    toJSON(key: string) {
      seen.push([this === value, key]);
      return key;
    },
  };
  const all = { a: value, b: [value] };
  assert.equal(writeJson(all, state), JSON.stringify(all));
  assert.equal(writeJson(value, { rules: 'state', path: ['cart'] }), '"cart"');
  assert.deepEqual(seen, [
    [true, 'a'],
    [true, '0'],
    [true, 'a'],
    [true, '0'],
    [true, 'cart'],
  ]);
});

test('an inherited toJSON is honoured: a Date becomes its ISO text', () => {
  assert.equal(writeJson({ at: new Date(0) }, state), '{"at":"1970-01-01T00:00:00.000Z"}');
});

test('__proto__, constructor and toString are ordinary keys', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":1,"toString":2,"hasOwnProperty":3}';
  assert.equal(writeJson(JSON.parse(text), state), text);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('inherited, symbol and non-enumerable members are not written', () => {
  const value = Object.defineProperty({ own: 1, [Symbol('s')]: 2 }, 'hidden', { value: 3 });
  assert.equal(writeJson(value, state), '{"own":1}');
  assert.equal(writeJson(Object.create({ inherited: 1 }), event), '{}');
});

test('an error thrown by a getter, toJSON or proxy becomes the cause, with the path', () => {
  const thrown = new Error('lazy loading failed');
  const fail = (): never => {
    throw thrown;
  };
  for (const value of [
    Object.defineProperty({}, 'b', { get: fail, enumerable: true }),
    { b: { toJSON: fail } },
    { b: new Proxy({}, { ownKeys: fail }) },
    { b: new Proxy({}, { getPrototypeOf: fail }) },
  ]) {
    const error = refusal({ a: [value] }, 'state', 'x');
    assert.equal(error.path, 'x.a[0].b');
    assert.equal(error.cause, thrown);
  }
});

test('a thrown value that cannot be printed is reported', () => {
  const thrown: unknown = Object.create(null);
  const value = {
    get a(): number {
      throw thrown;
    },
  };
  assert.equal(refusal(value, 'state').cause, thrown);
});

test('a raw member is written as its text', () => {
  const holder = { b: 1, c: 2 };
  const raw = { holder, key: 'b', text: '{"x":null}' };
  assert.equal(
    writeJson({ a: holder, b: 3 }, { ...event, raw }),
    '{"a":{"b":{"x":null},"c":2},"b":3}',
  );
});
