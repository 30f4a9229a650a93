// Events, each with its expected stored form.

import { createEvent, type Event } from 'adk-session-wasm';
import fc from 'fast-check';
import { freshFrom, planned } from './planned.js';
import {
  define,
  DROPPED,
  hostileObject,
  hostileValue,
  KEYS,
  MEMBERS,
  nested,
  OPEN,
  REFUSED,
} from './values.js';
import { freshId } from './world.js';

/** A value for an append, and its expected result. */
export interface Attempt {
  readonly event: unknown;
  /** The stored event without its id, timestamp and actions; REFUSED; or OPEN. */
  readonly fields: unknown;
  /** The change of the state: keys with their values, DROPPED for a removal; REFUSED; or OPEN. */
  readonly delta: unknown;
}

function plainEvent(): Event {
  return createEvent({ id: freshId(), author: 'user', invocationId: 'i', timestamp: 1_700_000_000_000 });
} // prettier-ignore

const ADDED = { author: 'user', invocationId: 'i' };

/** Top-level members of a state: `undefined` removes, and keys may have the prefixes of other scopes. */
export const hostileDelta = planned(
  '',
  fc.dictionary(
    fc.tuple(fc.constantFrom('', '', '', 'user:', 'app:', 'temp:'), fc.constantFrom(...KEYS)).map((parts) => parts.join('')),
    hostileValue,
    { ...MEMBERS, minKeys: 1 },
  ),
  (members) => {
    const value = {};
    const stored = {};
    let verdict: unknown = stored;
    for (const [key, make] of Object.entries(members)) {
      const part = make();
      define(value, key, part.value);
      // Values of `temp:` keys are never checked.
      if (key.startsWith('temp:')) continue;
      if (part.inState === OPEN) verdict = OPEN;
      else if (part.inState === REFUSED && verdict !== OPEN) verdict = REFUSED;
      define(stored, key, part.inState);
    }
    return { value, inState: verdict };
  },
); // prettier-ignore

/** A hostile value in the delta. */
const withDelta = planned('an event with the delta ', hostileDelta, (makeDelta): Attempt => {
  const event = plainEvent();
  const { value, inState } = makeDelta();
  event.actions.stateDelta = value;
  return { event, fields: ADDED, delta: inState };
});

/** A hostile value elsewhere in the event. */
const withField = planned(
  'an event with ',
  fc.tuple(
    fc.constantFrom('content', 'customMetadata', 'custom', '__proto__', 'constructor', 'Delta":0'),
    fc.oneof(hostileValue, hostileObject),
  ),
  ([name, make]): Attempt => {
    const event = plainEvent();
    const { value, inEvent } = make();
    define(event, name, value);
    if (inEvent === REFUSED || inEvent === OPEN) return { event, fields: inEvent, delta: {} };
    // A text becomes a message, and anything else but an object is refused.
    if (name === 'content') return { event, fields: OPEN, delta: {} };
    const fields = { ...ADDED };
    if (inEvent !== DROPPED) define(fields, name, inEvent);
    return { event, fields, delta: {} };
  },
); // prettier-ignore

const deep = planned(
  'a deep event ',
  fc.record({
    levels: fc.constantFrom(150, 199, 200, 201, 249, 251, 5000, 100_000),
    isInDelta: fc.boolean(),
  }),
  ({ levels, isInDelta }): Attempt => {
    const event = plainEvent();
    if (isInDelta) {
      event.actions.stateDelta = { deep: nested(levels) };
      const isTooDeep = levels > 200;
      return { event, fields: ADDED, delta: isTooDeep ? REFUSED : { deep: nested(levels) } };
    }
    define(event, 'custom', nested(levels));
    return { event, fields: levels > 249 ? REFUSED : OPEN, delta: {} };
  },
);

type OddChange = (event: Record<string, unknown>) => unknown;

/** Each value in place of a member of the event. */
function membersOf(name: string, values: () => readonly unknown[]): fc.Arbitrary<OddChange> {
  return planned(`${name}: `, freshFrom(values), (value, event) =>
    Object.assign(event, { [name]: value }),
  );
}

const ODD: OddChange[] = [
  (event) => Object.freeze(event),
  (event) => Object.seal(event),
  (event) => Object.freeze({ ...event, id: '' }),
  (event) => ({ ...event, actions: Object.freeze(event.actions) }),
  (event) => Object.preventExtensions({ author: 'user', timestamp: event.timestamp }),
  (event) => new Proxy(event, {}),
  (event) => new Proxy(event, { set: () => false }),
  (event) => new Proxy(event, { defineProperty: () => false }),
  (event) => new Proxy(event, { get(): never { throw new TypeError('get threw'); } }),
  (event) => new Proxy(event, { ownKeys(): never { throw new Error('ownKeys threw'); } }),
  (event) => new Proxy(event, { getOwnPropertyDescriptor(): never { throw new Error('descriptor threw'); } }),
  (event) => Object.create(event) as unknown,
  (event) => Object.assign(Object.create(null) as object, event),
  (event) => ({ ...event, toJSON: () => ({ author: 'other' }) }),
  (event) => ({ ...event, toJSON(): never { throw new TypeError('toJSON threw'); } }),
  (event) => ({ ...event, toJSON: () => 7 }),
  (event) => Object.defineProperty(event, 'author', { get(): never { throw 'a text'; }, enumerable: true }),
  (event) => Object.defineProperty(event, 'id', { get: () => freshId(), enumerable: true }),
  (event) => Object.defineProperty(event, 'id', { value: '', writable: false }),
  (event) => Object.defineProperty(event, 'timestamp', { get: () => Date.now(), set(): never { throw new Error('set threw'); } }),
  (event) => Object.defineProperty(event, 'actions', { get: () => ({ stateDelta: { a: 1 } }), enumerable: true }),
  (event) => Object.defineProperty(event, 'actions', { get(): never { throw new Error('actions threw'); }, enumerable: true }),
  (event) => {
    const actions = { ...(event.actions as object) };
    Object.defineProperty(actions, 'stateDelta', { get: () => ({ a: 1 }), set(): never { throw new Error('set threw'); }, enumerable: true });
    return { ...event, actions };
  },
  (event) => ({ ...event, partial: 'true' }),
  (event) => ({ ...event, partial: { valueOf: () => true } }),
]; // prettier-ignore

/** A value that is not an event, or an event with odd members. */
const odd = planned(
  'an odd event ',
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ODD) },
    membersOf('timestamp', () => [-1, NaN, Infinity, 2 ** 53, 253402300799999, 253402300800000, 0, -0, 0.25, 1e-300, '1', null, 1n, {}, undefined, new Date(0)]),
    membersOf('id', () => ['', undefined, null, 7, {}, 'x'.repeat(512), 'x'.repeat(513), 'a\0b', '\ud800', '__proto__', '/', '😀'.repeat(128)]),
    membersOf('actions', () => [undefined, null, 7, [], 'actions', {}, { stateDelta: null }, { stateDelta: [] }, { stateDelta: 7 }, { stateDelta: new Map() }, new Proxy({}, {})]),
    planned('', freshFrom(() => [null, undefined, 7, 'event', [], () => 1, Symbol('event'), 1n, new Date(0), {}, new Map()]), (value) => value),
  ),
  (change): Attempt => ({ event: change({ ...plainEvent() }), fields: OPEN, delta: OPEN }),
); // prettier-ignore

/** An ordinary event, for cases with another hostile part. */
export const plainAttempt = planned('an event ', fc.record({ n: fc.nat(999) }), ({ n }): Attempt => {
  const event = plainEvent();
  const value = { list: [1, { two: 2 }], n };
  event.actions.stateDelta = { value };
  event.content = { parts: [{ text: 'hi' }] };
  const fields = { ...ADDED, content: { parts: [{ text: 'hi' }] } };
  return { event, fields, delta: { value: structuredClone(value) } };
}); // prettier-ignore

export const hostileAttempt = fc.oneof(
  { withCrossShrink: true },
  { weight: 80, arbitrary: withDelta },
  { weight: 40, arbitrary: withField },
  { weight: 40, arbitrary: odd },
  { weight: 1, arbitrary: deep },
);
