// Events, each with its expected stored form.

import { createEvent, type Event } from 'adk-session-wasm';
import type { Random } from './random.js';
import {
  define,
  DROPPED,
  type HostileValue,
  hostileValue,
  hostileObject,
  KEYS,
  nested,
  OPEN,
  REFUSED,
} from './values.js';

/** A value for an append, and its expected result. */
export interface Attempt {
  readonly event: unknown;
  /** The stored event without its id, timestamp and actions; REFUSED; or OPEN. */
  readonly fields: unknown;
  /** The change of the state: keys with their values, DROPPED for a removal; REFUSED; or OPEN. */
  readonly delta: unknown;
}

let count = 0;

/** A unique id for an event. It does not depend on the seed. */
export function freshId(): string {
  count += 1;
  return `e${count}`;
}

function plainEvent(): Event {
  return createEvent({ id: freshId(), author: 'user', invocationId: 'i', timestamp: 1_700_000_000_000 });
} // prettier-ignore

const ADDED = { author: 'user', invocationId: 'i' };

/** A hostile value in the delta. */
function withDelta(random: Random): Attempt {
  const event = plainEvent();
  const part = deltaOf(random);
  event.actions.stateDelta = part.value as Record<string, unknown>;
  return { event, fields: ADDED, delta: part.inState };
}

/** Top-level members: `undefined` removes, and keys may have the prefixes of other scopes. */
export function deltaOf(random: Random): HostileValue {
  const parts = new Map<string, HostileValue>();
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const prefix = random.pick(['', '', '', 'user:', 'app:', 'temp:']);
    parts.set(prefix + random.pick(KEYS), hostileValue(random));
  }
  const value = {};
  const stored = {};
  let verdict: unknown = stored;
  for (const [key, part] of parts) {
    define(value, key, part.value);
    // Values of `temp:` keys are never checked.
    if (key.startsWith('temp:')) continue;
    if (part.inState === OPEN) verdict = OPEN;
    else if (part.inState === REFUSED && verdict !== OPEN) verdict = REFUSED;
    define(stored, key, part.inState);
  }
  return { value, inState: verdict, inEvent: verdict };
}

/** A hostile value elsewhere in the event. */
function withField(random: Random): Attempt {
  const event = plainEvent();
  const part = random.once(3) ? hostileObject(random, 3) : hostileValue(random);
  const name = random.pick(['content', 'customMetadata', 'custom', '__proto__', 'then', 'constructor', 'Delta":0']);
  define(event, name, part.value);
  const fields = { ...ADDED };
  if (part.inEvent === REFUSED || part.inEvent === OPEN) {
    return { event, fields: part.inEvent, delta: {} };
  }
  if (part.inEvent !== DROPPED) define(fields, name, part.inEvent);
  return { event, fields, delta: {} };
} // prettier-ignore

function deep(random: Random): Attempt {
  const event = plainEvent();
  const levels = random.pick([150, 199, 200, 201, 249, 251, 5000, 100_000]);
  if (random.once(2)) {
    event.actions.stateDelta = { deep: nested(levels) };
    const isTooDeep = levels > 200;
    return { event, fields: ADDED, delta: isTooDeep ? REFUSED : { deep: nested(levels) } };
  }
  define(event, 'custom', nested(levels));
  return { event, fields: levels > 249 ? REFUSED : OPEN, delta: {} };
}

/** A value that is not an event, or an event with odd members. */
function odd(random: Random): Attempt {
  const event: Record<string, unknown> = { ...plainEvent() };
  const change = random.pick(ODD);
  return { event: change(event, random), fields: OPEN, delta: OPEN };
}

const ODD: ((event: Record<string, unknown>, random: Random) => unknown)[] = [
  (_, random) => random.pick([null, undefined, 7, 'event', [], () => 1, Symbol('event'), 1n, new Date(0), {}, new Map()]),
  (event, random) => {
    const times = [-1, NaN, Infinity, 2 ** 53, 253402300799999, 253402300800000, 0, -0, 0.25, 1e-300, '1', null, 1n, {}, undefined, new Date(0)];
    event.timestamp = random.pick(times);
    return event;
  },
  (event, random) => {
    event.id = random.pick<unknown>(['', undefined, null, 7, {}, 'x'.repeat(512), 'x'.repeat(513), 'a\0b', '\ud800', '__proto__', '/', '😀'.repeat(128)]);
    return event;
  },
  (event, random) => {
    event.actions = random.pick<unknown>([undefined, null, 7, [], 'actions', {}, { stateDelta: null }, { stateDelta: [] }, { stateDelta: 7 }, { stateDelta: new Map() }, new Proxy({}, {})]);
    return event;
  },
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
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the point
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

export function hostileAttempt(random: Random): Attempt {
  return random.pick([withDelta, withDelta, withDelta, withField, withField, odd, odd, random.once(20) ? deep : withDelta])(random);
} // prettier-ignore

/** An ordinary event, for cases with another hostile part. */
export function plainAttempt(random: Random): Attempt {
  const event = plainEvent();
  const value = { list: [1, { two: 2 }], n: random.below(1000) };
  event.actions.stateDelta = { value };
  event.content = { parts: [{ text: 'hi' }] };
  const fields = { ...ADDED, content: { parts: [{ text: 'hi' }] } };
  return { event, fields, delta: { value: structuredClone(value) } };
}
