// Values with their expected stored forms, in a state and elsewhere in an event.

import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { planned } from './planned.js';

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

/** Each call makes new objects. */
type Make = () => HostileValue;

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

const SAME = [
  null, true, false, 0, 1, -1, 0.1, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 53 + 2, 1e21, 123456789012345680000, '', 'tea', '\u2028\u2029',
  '\u0001\u001f\u007f', '"\\/', '😀', '\ufeff', 'Delta":0', '{"a":1}', '__ADK_SENTINEL', 'x'.repeat(5000), [], {},
]; // prettier-ignore

const SPECIAL: Make[] = [
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

/** Most values are harmless, so that the values next to them are stored and compared. */
const SIMPLE = fc.oneof(
  { withCrossShrink: true },
  { weight: 4, arbitrary: planned('', fc.constantFrom(1, 'tea', null, true, 2.5), same) },
  { weight: 1, arbitrary: planned('', fc.constantFrom(...SAME), same) },
  { weight: 1, arbitrary: fc.constantFrom(...SPECIAL) },
);

/** Options of generated objects. */
export const MEMBERS = { maxKeys: 3, noNullPrototype: false };

/** Values, often nested, and objects of them. */
export const { value: hostileValue, object: hostileObject } = fc.letrec<{
  value: Make;
  object: Make;
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: SIMPLE },
    { weight: 1, arbitrary: planned('', fc.array(tie('value'), { maxLength: 3 }), combined) },
    { weight: 2, arbitrary: tie('object') },
  ),
  object: planned('', fc.dictionary(fc.constantFrom(...KEYS), tie('value'), MEMBERS), combined),
}));

function combined(makes: readonly Make[] | Readonly<Record<string, Make>>): HostileValue {
  const parts = Object.entries(makes).map(([key, make]) => [key, make()] as const);
  const formOf = (name: keyof HostileValue): unknown => {
    const forms = parts.map(([key, part]) => [key, part[name]] as const);
    // If both occur, the value that is read first decides.
    for (const verdict of [OPEN, REFUSED]) {
      if (forms.some(([, form]) => form === verdict)) return verdict;
    }
    const isList = Array.isArray(makes);
    const whole = isList ? [] : (Object.create(Object.getPrototypeOf(makes) as object) as object);
    for (const [key, form] of forms) {
      if (form !== DROPPED) define(whole, key, form);
      else if (isList) define(whole, key, null);
    }
    return whole;
  };
  return only(formOf('value'), formOf('inState'), formOf('inEvent'));
}

export function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
