// Appends of hostile events through hostile handles, changed in place during and after the call.

import type { Event, Session } from 'adk-session-wasm';
import { type Attempt, freshId, hostileAttempt, plainAttempt } from './events.js';
import { handleChange } from './handles.js';
import { isSameJson, must, outcomeOf, present, requireTypedError, type Stored } from './oracle.js';
import type { Random } from './random.js';
import { define, DROPPED, OPEN, REFUSED } from './values.js';
import { said, type World } from './world.js';

interface Spoiling {
  /** Whether the handle and the event can be looked at afterwards. */
  readonly isVisible: boolean;
  /** Behind the call, before it settles. */
  readonly afterwards: () => void;
}

const NOTHING: Spoiling = { isVisible: true, afterwards: () => undefined };

export async function attackAppend(world: World, session: Session): Promise<void> {
  const { service, random } = world;
  const isOddHandle = random.once(3);
  const attempt = random.once(3) ? plainAttempt(random) : hostileAttempt(random);
  const handle = isOddHandle ? handleChange(random)(session) : session;
  const before = present(await world.readBefore());
  const handleBefore = isOddHandle ? undefined : JSON.stringify(session);
  const spoiling = random.once(3) ? spoil(random, session, attempt) : NOTHING;
  world.isSpent = attempt.fields === OPEN;
  const isMany = random.once(5);
  const event = attempt.event as Event;
  const many = [said(freshId()), event, said(freshId())];
  const given = handle as Session;
  const outcome = await outcomeOf(() => {
    const answer = isMany
      ? service.appendEvents({ session: given, events: many })
      : service.appendEvent({ session: given, event });
    spoiling.afterwards();
    return answer;
  });
  requireTypedError(outcome);
  const after = present(await world.read());
  if (!outcome.isDone) {
    must(isSameJson(before, after), 'What was refused has changed nothing.', before, after, outcome.error);
    must(
      isOddHandle || mayRefuse(attempt) || mayRefuseHere(world, attempt),
      'An event that the contract allows is stored.',
      outcome.error,
    );
    if (handleBefore !== undefined && spoiling.isVisible) {
      must(JSON.stringify(session) === handleBefore, 'A refused append leaves the handle as it was.', session);
    }
    return;
  }
  must(isOddHandle || !mustRefuse(attempt), 'What JSON cannot say is refused.', after.events.at(-1));
  const added = after.events.slice(before.events.length) as Event[];
  const isPartial = isMany ? added.length === 2 : added.length === 0;
  const expected = isMany ? 3 : 1;
  must(
    added.length === expected || (attempt.fields === OPEN && isPartial),
    'What was acknowledged is stored, once.',
    added,
  );
  must(isSameJson(after.events.slice(0, before.events.length), before.events), 'Earlier events stay.', after);
  if (isPartial || isOddHandle) return;
  const stored = added[isMany ? 1 : 0];
  requireStored(world, present(stored), attempt, before, after);
  if (!spoiling.isVisible) return;
  // The handle holds the caller's own event, whose getters may say otherwise each time.
  if (attempt.fields !== OPEN && attempt.delta !== OPEN) {
    must(isSameJson(jsonOf(session.events), after.events), 'The handle has the stored events.', session, after);
  }
  must(isSameJson(withoutTemp(session.state), withoutTemp(after.state)), 'The handle has the stored state.', session.state, after.state);
} // prettier-ignore

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
    must(isSameJson(others, fields), 'An event is stored to the letter.', others, fields);
  }
  if (delta === OPEN) return;
  const state: Record<string, unknown> = { ...before.state };
  for (const [key, value] of Object.entries(delta as object)) {
    const isGone = value === DROPPED || (value === null && world.target.nullRemoves === true);
    if (isGone) Reflect.deleteProperty(state, key);
    else define(state, key, value);
  }
  must(isSameJson(after.state, state), 'The delta is the whole change of the state.', after.state, state);
} // prettier-ignore

/** Changes what the caller holds, behind the call. */
function spoil(random: Random, session: Session, { event }: Attempt): Spoiling {
  const change = random.pick<(event: Event) => void>([
    () => (session.id = 'elsewhere'),
    () => (session.userId = 'somebody'),
    () => Object.assign(session, { id: 7, appName: null }),
    () => (session.state = {}),
    () => (session.events = []),
    () => (session.state.extra = 'not stored'),
    () => session.events.push(said('pushed')),
    () => Object.freeze(session),
    () => Object.freeze(session.state),
    () => Object.freeze(session.events),
    () => Object.defineProperty(session, 'lastUpdateTime', { set: fail, get: () => 0 }),
    () => Object.defineProperty(session.state, 'value', { set: fail, get: () => 0 }),
    (event) => (event.actions.stateDelta.extra = 'not stored'),
    (event) => (event.actions = { stateDelta: { extra: 1 } } as never),
    (event) => (event.id = 'another'),
    (event) => (event.timestamp = NaN),
    (event) => Object.assign(event, { content: { parts: [{ text: 'not stored' }] } }),
    (event) => Object.freeze(event),
    (event) => Object.freeze(event.actions),
    (event) => Object.defineProperty(event.actions, 'stateDelta', { set: fail, get: () => ({}) }),
    (event) => Object.assign(event, { then: fail }),
    (event) => pushInto(event.actions.stateDelta),
  ]);
  return {
    isVisible: false,
    afterwards() {
      try {
        change(event as Event);
      } catch {
        // The event is none, or cannot be changed.
      }
    },
  };
}

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

/** Some databases refuse more. */
function mayRefuseHere({ target }: World, { event }: Attempt): boolean {
  return target.refusesNulInText === true && String(JSON.stringify(event)).includes('\\u0000');
}

function jsonOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '\ufffd'));
}

function withoutTemp(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')));
}
