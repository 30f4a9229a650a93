/**
 * Handles: the session objects that callers hold, and what a service knows of each.
 *
 * The folder changes no handle. `js/service/append/handle_update.ts` does, after a commit.
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
import type { CreateWrite, HandlePosition } from '../write.js';

/** The data that a service keeps about a handle that it gave out or has appended through. */
export interface HandleFacts {
  /** The revision at which the session was created; NaN while it is not known. */
  createdRevision: number;
  /** The revision of the last change that the handle has. */
  revision: number;
  /**
   * The handle has every change up to this revision, or was notified of it. Unused while
   * `createdRevision` is NaN.
   */
  knownUntil: number;
  /** Changes after `knownUntil` that the handle has: those of its own appends. */
  laterChanges: LaterChanges | undefined;
  /** The session's time at `revision`; NaN while it is not known. */
  lastUpdateTime: number;
  /**
   * The id of the handle's first event when it was read with all of its events; `''` if it had
   * none. While the handle still begins with that event, it lacks no older one. `undefined` for a
   * handle read with a window.
   */
  firstEventId: string | undefined;
  /**
   * The time in ms of `config.afterTimestamp`, if the handle was read with it: the handle was read without older
   * events.
   */
  readonly afterTimestamp: number | undefined;
  /** Whether an append through the handle gave the session a title, if it had none. */
  isTitled: boolean;
  /** The view that the handle was read with. No marker is put on a handle with another one than `'raw'`. */
  readonly view: HistoryView;
  /** Whether an event was appended since the handle was read, after which other events may belong to the view. */
  isViewStale: boolean;
  /** The session that the first append through the handle creates, if there is none. Only a cache does so. */
  creation: CreateWrite | undefined;
}

/** Returns the position of a handle. */
export function positionOf(
  { lastEventId }: HandleSnapshot,
  { createdRevision: created, revision, creation }: HandleFacts,
): HandlePosition {
  // Nothing was read that could be stale.
  if (creation !== undefined) return { kind: 'latest' };
  return Number.isNaN(created)
    ? { kind: 'lastEvent', lastEventId }
    : { kind: 'revision', created, revision };
}

/** The revisions and the time of the session that a handle is made from. */
export interface HandleHead {
  readonly created: number;
  readonly revision: number;
  readonly lastUpdateTime: number;
}

/** Which events of a session a handle is made with. */
export interface HandleWindow {
  /** Whether these are all events of the session. */
  readonly isWhole: boolean;
  /** The time in ms of `config.afterTimestamp`, if the session was read with it. */
  readonly afterTimestamp?: number | undefined;
  /** The view that the session was read with; default `'raw'`. */
  readonly view?: HistoryView;
}

/** Changes that a handle has although it lacks earlier ones, with their revisions. */
export interface LaterChanges {
  /** Revisions by event id. */
  readonly events: Map<string, number>;
  /** Revisions by key of the state. */
  readonly keys: Map<string, number>;
}

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
      facts = {
        createdRevision: NaN,
        revision: 0,
        knownUntil: 0,
        lastUpdateTime: NaN,
        firstEventId: undefined,
        afterTimestamp: undefined,
        isTitled: false,
        laterChanges: undefined,
        view: 'raw',
        isViewStale: false,
        creation: undefined,
      };
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
    { created, revision, lastUpdateTime }: HandleHead,
    state: Partial<S>,
    events: Event[],
    { isWhole, afterTimestamp, view = 'raw' }: HandleWindow,
  ): Session<S> {
    this.#facts.set(state, {
      createdRevision: created,
      revision,
      knownUntil: revision,
      lastUpdateTime,
      firstEventId: isWhole ? (events[0]?.id ?? '') : undefined,
      afterTimestamp,
      isTitled: false,
      laterChanges: undefined,
      view,
      isViewStale: false,
      creation: undefined,
    });
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
