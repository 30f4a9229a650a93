// Handles that differ from those that the service returned.

import type { Session } from 'adk-session-wasm';
import fc from 'fast-check';
import { freshFrom, planned } from './planned.js';

const thrower = (): never => {
  throw new TypeError('a getter threw');
};
const FIELDS = ['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime'] as const;

const others = freshFrom(() => [undefined, null, 7, '', 'other', [], {}, new Map(), Symbol('x'), 1n, NaN, () => 1, new Date(0)]); // prettier-ignore

interface Changed {
  readonly field: (typeof FIELDS)[number];
  readonly other: unknown;
}

/** Derives a handle from a session; it may change the session. */
const CHANGES: ((session: Session, changed: Changed) => unknown)[] = [
  (session) => Object.freeze(session),
  (session) => Object.seal(session),
  (session) => Object.preventExtensions(session),
  (session) => ({ ...session, state: Object.freeze(session.state) }),
  (session) => ({ ...session, state: Object.seal(session.state) }),
  (session) => ({ ...session, events: Object.freeze(session.events) }),
  (session) => ({ ...session, events: Object.seal(session.events) }),
  (session) => ({ ...session }),
  (session) => structuredClone(session),
  (session) => JSON.parse(JSON.stringify(session)) as unknown,
  (session) => new Proxy(session, {}),
  (session) => new Proxy(session, { get: thrower }),
  (session) => new Proxy(session, { set: () => false }),
  (session) => new Proxy(session, { set: thrower, defineProperty: thrower }),
  (session) => ({ ...session, state: new Proxy(session.state, {}) }),
  (session) => ({ ...session, state: new Proxy(session.state, { set: thrower, defineProperty: thrower, has: thrower }) }),
  (session) => ({ ...session, events: new Proxy(session.events, {}) }),
  (session) => ({ ...session, events: new Proxy(session.events, { set: thrower, get: thrower }) }),
  (session) => Object.create(session) as unknown,
  (session, { field, other }) => Object.assign(session, { [field]: other }),
  (session, { field, other }) => ({ ...session, [field]: other }),
  (session, { field }) => (Reflect.deleteProperty(session, field), session),
  (session, { field }) => Object.defineProperty(session, field, { get: thrower, configurable: true }),
  (session, { field }) => Object.defineProperty(session, field, { value: session[field], writable: false }),
  (session) => Object.defineProperty(session, 'lastUpdateTime', { set: thrower, get: () => 1 }),
  (session) => {
    let reads = 0;
    const { id } = session;
    return Object.defineProperty(session, 'id', { get: () => ((reads += 1) > 1 ? 'elsewhere' : id) });
  },
  (session) => Object.assign(session, { events: [...session.events] }),
  (session) => Object.assign(session, { events: [] }),
  (session) => Object.assign(session, { events: [null, 7, 'x'] }),
  (session) => (session.events.splice(0), session),
  (session) => ((session.events.length = 1000), session),
  (session) => Object.assign(session, { state: { ...session.state } }),
  (session) => Object.assign(session, { state: Object.create(null) as unknown }),
  (session) => (Object.defineProperty(session.state, 'value', { get: thrower, set: thrower }), session),
  (session) => (Object.defineProperty(session.state, 'value', { value: 1, writable: false }), session),
  (session) => Object.defineProperty(session, 'toJSON', { value: thrower }),
  (_, { other }) => other,
]; // prettier-ignore

export const handleChange = planned(
  'a handle ',
  fc.record({
    change: fc.constantFrom(...CHANGES),
    field: fc.constantFrom(...FIELDS),
    other: others,
  }),
  ({ change, field, other }, session: Session) => change(session, { field, other }),
);
