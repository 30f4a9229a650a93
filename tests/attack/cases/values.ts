// Values with their expected stored forms, in a state and elsewhere in an event.

import { runInNewContext } from 'node:vm';
import type { Random } from './random.js';

/** The value is refused, because JSON cannot represent it. */
export const REFUSED = Symbol('refused');
/** The value is absent: a member of an object is dropped, an element of an array is `null`. */
export const DROPPED = Symbol('dropped');
/** The contract does not define the result, or it depends on the run. */
export const OPEN = Symbol('open');

/** A value, and its expected JSON values. */
export interface HostileValue {
  readonly value: unknown;
  readonly inState: unknown;
  readonly inEvent: unknown;
}

/** Copies each form, because a case may change the value in place. */
const same = (value: unknown): HostileValue => {
  if (typeof value !== 'object' || value === null) return { value, inState: value, inEvent: value };
  const copy = (): unknown => structuredClone(value);
  return { value: copy(), inState: copy(), inEvent: copy() };
};
const only = (value: unknown, inState: unknown, inEvent: unknown): HostileValue => {
  return { value, inState, inEvent };
};
const open = (value: unknown): HostileValue => only(value, OPEN, OPEN);

class Money {
  readonly amount = 5;
  readonly #secret = 'secret';
  get shown(): string {
    return this.#secret;
  }
}

class Priced {
  constructor(readonly price: unknown) {}
  toJSON(): unknown {
    return { price: this.price };
  }
}

/** Values of another realm, with another `Object.prototype`. */
const FOREIGN = runInNewContext(
  '({ object: () => ({ a: [1, { b: 2 }] }), date: () => new Date(0), map: () => new Map(), error: () => { throw "text"; } })',
) as { object(): object; date(): Date; map(): object; error(): never };

/** Keys that an ordinary object inherits, and odd keys. */
export const KEYS = [
  'a', 'b', 'items', '__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__',
  'toJSON ', 'then', 'length', '0', '10', '-1', '', ' ', '\u2028', '\u0001', '"', '\\', '😀', 'e\u0301', 'é', 'stateDelta',
  'Delta":0', 'id', 'timestamp', 'actions', 'get', 'value', 'x'.repeat(300),
]; // prettier-ignore

const SIMPLE: (() => HostileValue)[] = [
  ...[
    null, true, false, 0, 1, -1, 0.1, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 53 + 2, 1e21, 123456789012345680000, '', 'tea', '\u2028\u2029',
    '\u0001\u001f\u007f', '"\\/', '😀', '\ufeff', 'Delta":0', '{"a":1}', '__ADK_SENTINEL', 'x'.repeat(5000), [], {},
  ].map((value) => () => same(value)),
  () => only(-0, 0, 0),
  () => only(undefined, DROPPED, DROPPED),
  () => only(NaN, REFUSED, null),
  () => only(-Infinity, REFUSED, null),
  () => only(() => 1, REFUSED, DROPPED),
  () => only(Symbol('s'), REFUSED, DROPPED),
  () => only(10n, REFUSED, REFUSED),
  () => only('a\ud800b', REFUSED, 'a\ufffdb'),
  () => only('\udfff', REFUSED, '\ufffd'),
  () => only(new Date(86_400_000), '1970-01-02T00:00:00.000Z', '1970-01-02T00:00:00.000Z'),
  () => only(new Date(NaN), null, null),
  () => only(new Map([[1, 2]]), REFUSED, {}),
  () => only(new Set([1]), REFUSED, {}),
  () => only(new WeakMap(), REFUSED, {}),
  () => only(new Money(), REFUSED, { amount: 5 }),
  () => only(new Priced(3), { price: 3 }, { price: 3 }),
  () => only(new Priced(NaN), REFUSED, { price: null }),
  () => only(new Priced(undefined), {}, {}),
  () => only(new Uint8Array([1, 2]), REFUSED, { 0: 1, 1: 2 }),
  () => only(/x/g, REFUSED, {}),
  () => only(Promise.resolve(1), REFUSED, {}),
  () => open(new Error('an error')),
  () => open(new Number(3)),
  () => open(new String('boxed')),
  () => open(Object(1n)),
  () => only(FOREIGN.object(), { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }),
  () => only(FOREIGN.date(), '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'),
  () => only(FOREIGN.map(), REFUSED, {}),
  () => only(cycle('object'), REFUSED, REFUSED),
  () => only(cycle('array'), REFUSED, REFUSED),
  () => only({ toJSON: () => undefined }, DROPPED, DROPPED),
  () => only({ toJSON: () => NaN }, REFUSED, null),
  () => only({ toJSON: 7, a: 1 }, { toJSON: 7, a: 1 }, { toJSON: 7, a: 1 }),
  () => only([1, , undefined, 2], [1, null, null, 2], [1, null, null, 2]),
  () => only(Object.assign([1], { extra: 2 }), [1], [1]),
  () => only({ [Symbol('hidden')]: 1, a: 2 }, { a: 2 }, { a: 2 }),
  () => only(Object.freeze({ a: Object.freeze([1]) }), { a: [1] }, { a: [1] }),
  () => only(Object.defineProperty({ a: 1 }, 'hidden', { value: 2 }), { a: 1 }, { a: 1 }),
  () => only(Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }, { a: 1 }),
  () => open(Object.create({ inherited: 1 })),
  () => same(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')),
  () => open({ get a() { return 1; } }),
  () => open({ get a(): never { throw new TypeError('a getter threw'); } }),
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the point
  () => open({ get a(): never { throw 'a text'; } }),
  () => open({ toJSON(): never { throw new RangeError('toJSON threw'); } }),
  () => open({ toJSON: () => FOREIGN.error() }),
  () => open(new Proxy({ a: 1 }, {})),
  () => open(new Proxy([1, 2], {})),
  () => open(new Proxy({}, { ownKeys(): never { throw new Error('ownKeys threw'); } })),
  () => open(new Proxy({}, { get(): never { throw new Error('get threw'); } })),
  () => open(new Proxy({}, { getPrototypeOf(): never { throw new Error('getPrototypeOf threw'); } })),
  () => open(Proxy.revocable({}, {}).proxy),
  () => open(revoked()),
  () => open(changing()),
  () => open({ toJSON() { return this; } }),
]; // prettier-ignore

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object whose getter returns another value at each read. */
function changing(): object {
  let reads = 0;
  return {
    get a(): unknown {
      reads += 1;
      return [1, 'two', { three: 3 }, null, NaN, undefined, 7n, () => 8][reads % 8];
    },
  };
}

function cycle(kind: 'object' | 'array'): object {
  const object: Record<string, unknown> = { a: 1 };
  const array: unknown[] = [object];
  object.items = array;
  return kind === 'object' ? object : array;
}

/** Returns nested objects and arrays of the given depth. */
export function nested(levels: number): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Returns a value, often with nested values. */
export function hostileValue(random: Random, depth = 0): HostileValue {
  if (depth > 3 || random.once(2)) return plainOften(random);
  const count = random.below(4);
  if (random.once(3)) {
    const items = Array.from({ length: count }, () => hostileValue(random, depth + 1));
    return only(
      items.map(({ value }) => value),
      combined(items, ({ inState }) => inState, (parts) => parts.map(nullOf)),
      combined(items, ({ inEvent }) => inEvent, (parts) => parts.map(nullOf)),
    ); // prettier-ignore
  }
  return hostileObject(random, count, depth);
}

/** Most values are harmless, so that the values next to them are stored and compared. */
function plainOften(random: Random): HostileValue {
  return random.once(3) ? random.pick(SIMPLE)() : same(random.pick([1, 'tea', null, true, 2.5]));
}

export function hostileObject(random: Random, count: number, depth = 0): HostileValue {
  const members = new Map<string, HostileValue>();
  for (let index = 0; index < count; index += 1) {
    members.set(random.pick(KEYS), hostileValue(random, depth + 1));
  }
  const keys = [...members.keys()];
  const values = [...members.values()];
  const objectOf = (parts: readonly unknown[]): object => {
    const object = {};
    keys.forEach((key, index) => {
      if (parts[index] !== DROPPED) define(object, key, parts[index]);
    });
    return object;
  };
  const value = random.once(8) ? (Object.create(null) as object) : {};
  keys.forEach((key, index) => define(value, key, values[index]?.value));
  return only(
    value,
    combined(values, ({ inState }) => inState, objectOf),
    combined(values, ({ inEvent }) => inEvent, objectOf),
  ); // prettier-ignore
}

export function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function combined(
  parts: readonly HostileValue[],
  form: (part: HostileValue) => unknown,
  combine: (forms: unknown[]) => unknown,
): unknown {
  const forms = parts.map(form);
  // If both occur, the value that is read first decides.
  if (forms.includes(OPEN)) return OPEN;
  return forms.includes(REFUSED) ? REFUSED : combine(forms);
}

function nullOf(part: unknown): unknown {
  return part === DROPPED ? null : part;
}
