/**
 * Handles: the session objects that callers hold, and what a service knows of each.
 *
 * The folder changes no session. `js/service/append/handle_update.ts` does, after a commit, and has the facts of the handle
 * changed.
 */
import { kindOf } from '../../values/errors/describe.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import type { SessionError } from '../../values/errors/errors.js';
import { unreadable } from '../../values/json/unreadable.js';
import { isPromise, rawOf } from '../../values/members.js';
import type { Event } from '../../values/model/event/event.js';
import { requireId } from '../../values/model/values/ids.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { HistoryView } from '../../values/model/values/read_options.js';
import { HandleFacts, type HandleHead, type HandleWindow } from './handle_facts.js';

/**
 * What one service knows of its handles, keyed by the handle's `state` object.
 *
 * - Not a field of the session: google-adk for Python refuses to read a session with an unknown
 *   field.
 * - Keyed by the state and not by the session, so that a copy by spread shares the facts, and so does a
 *   reactive proxy of Vue.
 * - One map per service: revisions of one storage mean nothing in another.
 */
export class Handles {
  readonly #facts = new WeakMap<object, HandleFacts>();

  /** Returns the facts of a handle. Makes new ones for a handle that is not known. */
  factsOf(session: Session): HandleFacts {
    let facts = this.#factsAt(session.state);
    if (facts === undefined) {
      facts = new HandleFacts();
      this.#facts.set(rawOf(session.state), facts);
    }
    return facts;
  }

  #factsAt(state: object): HandleFacts | undefined {
    // Mostly the state is no proxy, and to ask it takes longer than a look-up.
    return this.#facts.get(state) ?? this.#facts.get(rawOf(state));
  }

  /** Returns the revision at which a handle's session was created; `otherwise` if it is not known. */
  createdRevisionOf<Otherwise>(state: object, otherwise: Otherwise): number | Otherwise {
    const { createdRevision = NaN } = this.#factsAt(state) ?? {};
    return Number.isNaN(createdRevision) ? otherwise : createdRevision;
  }

  /** Returns the view that a handle was read with. */
  historyViewOf(state: object): HistoryView {
    return this.#factsAt(state)?.view ?? 'raw';
  }

  /** Returns the revision of a handle; `undefined` if it is not known. */
  revisionOf(state: object): number | undefined {
    const facts = this.#factsAt(state);
    // Facts without this number belong to a handle that has not been read or appended through.
    return Number.isNaN(facts?.createdRevision) ? undefined : facts?.revision;
  }

  /**
   * Makes a handle from what was read of a session.
   *
   * @param state belongs to this handle alone, and so do the events
   */
  open<S extends object>(
    { appName, userId, sessionId }: CompositeSessionKey,
    head: HandleHead,
    state: Partial<S>,
    events: Event[],
    window: HandleWindow,
  ): Session<S> {
    this.#facts.set(state, new HandleFacts(head, window, events));
    const { lastUpdateTime } = head;
    return { id: sessionId, appName, userId, state, events, lastUpdateTime };
  }
}

/**
 * A handle as it was when an append was called. Later changes that the caller makes to the session
 * change neither where nor what is stored, nor which objects get the event.
 */
export interface HandleSnapshot extends Session {
  /** The caller's object. The append sets its `lastUpdateTime`. */
  readonly given: Session;
  /** The id of the last event. It tells how current a handle is that we did not give out. */
  readonly lastEventId: string | undefined;
  readonly hasTitle: boolean;
}

/**
 * Takes a handle at the call, and checks that an append can change it.
 *
 * @throws SessionError `invalid_argument` if the session cannot be read or changed
 */
export function snapshotHandle(session: unknown): HandleSnapshot {
  const noSession = (): SessionError =>
    invalidValue(
      'session',
      'must be a session, as createSession and getSession return it',
      session,
    );
  if (typeof session !== 'object' || session === null) throw noSession();
  try {
    if (Array.isArray(session) || isPromise(session)) throw noSession(); // a promise without `await`
    const given = session as Session;
    const { id, appName, userId, state, events } = given;
    requireId('session.id', id);
    requireId('session.appName', appName);
    requireId('session.userId', userId);
    if (typeof state !== 'object' || (state as unknown) === null || !Object.isExtensible(state)) {
      throw invalid(
        'session.state',
        `must be an object that is not frozen; it is ${frozen(state)}`,
      );
    }
    if (!Array.isArray(events) || !Object.isExtensible(events)) {
      throw invalid(
        'session.events',
        `must be an array that is not frozen; it is ${frozen(events)}`,
      );
    }
    if (Object.isFrozen(session)) {
      throw invalid('session', 'is frozen, but an append changes it; append through a copy');
    }
    return {
      id,
      appName,
      userId,
      state,
      events,
      lastUpdateTime: NaN,
      given,
      lastEventId: idOfLastEvent(events),
      hasTitle: given.title !== undefined,
    };
  } catch (error) {
    throw unreadable('session', error);
  }
}

/**
 * Checks a session that a call only reads, and does not append to. A session has a state.
 *
 * @throws SessionError `invalid_argument`
 */
export function requireSession(session: unknown): void {
  const { state } = Object(session) as { readonly state?: unknown };
  if (typeof state === 'object' && state !== null) return;
  throw invalidValue(
    'session',
    'must be a session, as createSession and getSession return it',
    session,
  );
}

/** Returns the kind of a value, and that it is frozen, for messages. */
function frozen(value: unknown): string {
  const isFrozen = typeof value === 'object' && value !== null && !Object.isExtensible(value);
  return isFrozen ? `${kindOf(value)}, frozen` : kindOf(value);
}

/** Returns the id of the last event, if it has one. A hand-made array may hold anything. */
export function idOfLastEvent(events: readonly Event[]): string | undefined {
  const last = events[events.length - 1] as { readonly id?: unknown } | null | undefined;
  const id = last?.id;
  return typeof id === 'string' ? id : undefined;
}
