// Appends of hostile events through hostile handles, changed in place during and after the call.

import type { Event, Session } from 'adk-session-wasm';
import fc from 'fast-check';
import { type Attempt, hostileAttempt, plainAttempt } from './events.js';
import { handleChange } from './handles.js';
import { isSameJson, must, outcomeOf, present, requireTypedError, type Stored } from './oracle.js';
import { planned, sometimes } from './planned.js';
import { define, DROPPED, OPEN, REFUSED } from './values.js';
import { freshId, textEvent, type World } from './world.js';

/** A change of the caller's objects after the call, before it settles. The handle and the event cannot be checked then. */
type LateChange = (session: Session, event: Event) => void;

const LATE_CHANGES: readonly LateChange[] = [
  (session) => (session.id = 'elsewhere'),
  (session) => (session.userId = 'somebody'),
  (session) => Object.assign(session, { id: 7, appName: null }),
  (session) => (session.state = {}),
  (session) => Object.assign(session, { events: [] }),
  (session) => Object.assign(session.state, { extra: 'not stored' }),
  (session) => session.events.push(textEvent('pushed')),
  (session) => Object.freeze(session),
  (session) => Object.freeze(session.state),
  (session) => Object.freeze(session.events),
  (session) => Object.defineProperty(session, 'lastUpdateTime', { set: fail, get: () => 0 }),
  (session) => Object.defineProperty(session.state, 'value', { set: fail, get: () => 0 }),
  (_, event) => (event.actions.stateDelta.extra = 'not stored'),
  (_, event) => (event.actions = { stateDelta: { extra: 1 } } as never),
  (_, event) => (event.id = 'another'),
  (_, event) => (event.timestamp = NaN),
  (_, event) => Object.assign(event, { content: { parts: [{ text: 'not stored' }] } }),
  (_, event) => Object.freeze(event),
  (_, event) => Object.freeze(event.actions),
  (_, event) => Object.defineProperty(event.actions, 'stateDelta', { set: fail, get: () => ({}) }),
  (_, event) => pushInto(event.actions.stateDelta),
];

export const attackAppend = planned(
  'append ',
  fc.record({
    handle: sometimes(3, handleChange),
    attempt: fc.oneof({ weight: 1, arbitrary: plainAttempt }, { weight: 2, arbitrary: hostileAttempt }),
    lateChange: sometimes(3, fc.constantFrom(...LATE_CHANGES)),
    isMany: sometimes(5, fc.constant(true)),
  }),
  async ({ handle, attempt: makeAttempt, lateChange, isMany }, world: World): Promise<void> => {
    const { service, handle: session } = world;
    const isOddHandle = handle !== undefined;
    const attempt = makeAttempt();
    const given = (isOddHandle ? handle(session) : session) as Session;
    const before = present(await world.readBefore());
    const handleBefore = isOddHandle ? undefined : JSON.stringify(session);
    world.needsNewSessions = attempt.fields === OPEN;
    const event = attempt.event as Event;
    const many = [textEvent(freshId()), event, textEvent(freshId())];
    const outcome = await outcomeOf(() => {
      const result = isMany
        ? service.appendEvents({ session: given, events: many })
        : service.appendEvent({ session: given, event });
      try {
        lateChange?.(session, event);
      } catch {
        // The value is not an event, or cannot be changed.
      }
      return result;
    });
    requireTypedError(outcome);
    const after = present(await world.read());
    if (!outcome.isDone) {
      must(isSameJson(before, after), 'A refused append changes nothing.', before, after, outcome.error);
      must(
        isOddHandle || mayRefuse(attempt) || mayRefuseHere(world, attempt),
        'An allowed event is stored.',
        outcome.error,
      );
      if (handleBefore !== undefined && lateChange === undefined) {
        must(JSON.stringify(session) === handleBefore, 'A refused append does not change the handle.', session);
      }
      return;
    }
    must(isOddHandle || !mustRefuse(attempt), 'A value that JSON cannot represent is refused.', after.events.at(-1));
    const added = after.events.slice(before.events.length) as Event[];
    const isPartial = isMany ? added.length === 2 : added.length === 0;
    const expected = isMany ? 3 : 1;
    must(
      added.length === expected || (attempt.fields === OPEN && isPartial),
      'An acknowledged event is stored once.',
      added,
    );
    must(isSameJson(after.events.slice(0, before.events.length), before.events), 'Earlier events do not change.', after);
    if (isPartial || isOddHandle) return;
    const stored = added[isMany ? 1 : 0];
    requireStored(world, present(stored), attempt, before, after);
    if (lateChange !== undefined) return;
    // The handle holds the caller's own event, whose getters may return another value at each read.
    if (attempt.fields !== OPEN && attempt.delta !== OPEN) {
      must(isSameJson(jsonOf(session.events), after.events), 'The handle has the stored events.', session, after);
    }
    must(isSameJson(withoutTemp(session.state), withoutTemp(after.state)), 'The handle has the stored state.', session.state, after.state);
  },
); // prettier-ignore

function requireStored(
  world: World,
  stored: Event,
  { fields, delta }: Attempt,
  before: Stored,
  after: Stored,
): void {
  if (fields !== OPEN) {
    const others: Partial<Event> = { ...stored };
    for (const name of ['id', 'timestamp', 'actions'] as const) Reflect.deleteProperty(others, name);
    must(isSameJson(others, fields), 'An event is stored exactly.', others, fields);
  }
  if (delta === OPEN) return;
  const state: Record<string, unknown> = { ...before.state };
  for (const [key, value] of Object.entries(delta as object)) {
    const isRemoved = value === DROPPED || (value === null && world.target.nullRemoves === true);
    if (isRemoved) Reflect.deleteProperty(state, key);
    else define(state, key, value);
  }
  must(isSameJson(after.state, state), 'The state changes exactly by the delta.', after.state, state);
} // prettier-ignore

function fail(): never {
  throw new Error('a setter threw');
}

/** Changes nested values. */
function pushInto(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 5) return;
  if (Array.isArray(value)) value.push('not stored');
  for (const member of Object.values(value)) pushInto(member, depth + 1);
}

function mustRefuse({ fields, delta }: Attempt): boolean {
  return (fields === REFUSED || delta === REFUSED) && fields !== OPEN && delta !== OPEN;
}

function mayRefuse({ fields, delta }: Attempt): boolean {
  return [fields, delta].some((part) => part === REFUSED || part === OPEN);
}

/** Whether the storage under attack may refuse an event that the contract allows. */
function mayRefuseHere({ target }: World, { event }: Attempt): boolean {
  return target.refusesNulInText === true && String(JSON.stringify(event)).includes('\\u0000');
}

function jsonOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '\ufffd'));
}

function withoutTemp(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')));
}
