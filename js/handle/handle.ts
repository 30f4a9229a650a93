import { isSessionError } from '../errors/errors.js';
import type { Event } from '../model/event.js';
import { requireId } from '../model/ids.js';
import { kindOf } from '../json/rules.js';
import type { Session } from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import { invalid } from '../call/call.js';

/** What a service knows of a handle that it gave out, or has appended through. */
export interface HandleRecord {
  /** The revision that the session was created at; NaN as long as it is not known. */
  created: number;
  /** The revision of the last change that the handle has. */
  revision: number;
  /** The revision up to which the handle has, or was told of, every change; ignored without `created`. */
  toldUntil: number;
  /** What the handle has of later changes, which are its own. */
  later: LaterChanges | undefined;
  /** The session's time at that revision; NaN as long as it is not known. */
  lastUpdateTime: number;
  /**
   * The id of the event that the handle began with when it was read with all of them, empty if there was
   * none. As long as it still begins so, it lacks nothing that is older. `undefined`: read with a window.
   */
  beginsWith?: string | undefined;
  /** The last of the appends that are under way through this handle. */
  tail: Promise<unknown> | undefined;
}

/** Changes that a handle has although it lacks some before them: the revision of each. */
export interface LaterChanges {
  /** By event id. */
  readonly events: Map<string, number>;
  /** By key of the state. */
  readonly keys: Map<string, number>;
}

/**
 * The records of one service's handles, by the handle's `state` object.
 *
 * Not a field of the session: google-adk for Python refuses to read a session with a field that it
 * does not know. By the state and not by the session, so that a copy by spread shares the record, as
 * it shares the state. One map a service: revisions of one storage mean nothing to another.
 */
export class Handles {
  readonly #records = new WeakMap<object, HandleRecord>();

  /** The record of a handle, made if we never saw it. */
  of(session: Session): HandleRecord {
    let record = this.#records.get(session.state);
    if (record === undefined) {
      record = {
        created: NaN,
        revision: 0,
        toldUntil: 0,
        lastUpdateTime: NaN,
        beginsWith: undefined,
        tail: undefined,
        later: undefined,
      };
      this.#records.set(session.state, record);
    }
    return record;
  }

  /** A handle for what was read: `[created, revision, lastUpdateTime, state]` and its events. */
  open<S extends StateShape>(
    appName: string,
    userId: string,
    id: string,
    read: readonly [created: number, revision: number, lastUpdateTime: number, state: string],
    events: Event[],
    isWhole = false,
  ): Session<S> {
    const [created, revision, lastUpdateTime, text] = read;
    const state = JSON.parse(text) as S;
    const head = [created, revision, lastUpdateTime] as const;
    return this.take(appName, userId, id, head, state, events, isWhole);
  }

  /** The same with a state that was read already, and is the handle's alone. */
  take<S extends StateShape>(
    appName: string,
    userId: string,
    id: string,
    [created, revision, lastUpdateTime]: readonly [
      created: number,
      revision: number,
      lastUpdateTime: number,
    ],
    state: S,
    events: Event[],
    isWhole = false,
  ): Session<S> {
    this.#records.set(state, {
      created,
      revision,
      toldUntil: revision,
      lastUpdateTime,
      beginsWith: isWhole ? (events[0]?.id ?? '') : undefined,
      tail: undefined,
      later: undefined,
    });
    return { id, appName, userId, state, events, lastUpdateTime };
  }
}

/**
 * A handle as an append was called with it. What the caller does with the session from then on changes
 * neither where nor what is stored, nor what gets the event.
 */
export interface TakenHandle extends Session {
  /** The caller's object, whose `lastUpdateTime` is set. */
  readonly given: Session;
  /** The id of the last event that a handle holds which we did not give out: what it is known by. */
  readonly lastEventId: string | undefined;
}

/** Lets the appends that follow through this handle wait for `done`, however it ends. */
export function enqueue(record: HandleRecord, done: Promise<unknown>): void {
  const tail = done.then(clear, clear);
  function clear(): void {
    if (record.tail === tail) record.tail = undefined;
  }
  record.tail = tail;
}

/**
 * Takes a handle at the call, and makes sure that an append can change it.
 *
 * @throws SessionError `invalid_argument`
 */
export function takeHandle(session: unknown): TakenHandle {
  if (typeof session !== 'object' || session === null) {
    throw invalid('session', `must be a session; it is ${kindOf(session)}`);
  }
  try {
    const given = session as Session;
    const { id, appName, userId, state, events } = given;
    requireNames(id, appName, userId);
    if (typeof state !== 'object' || (state as unknown) === null || !Object.isExtensible(state)) {
      throw invalid('session.state', 'must be an object that can be changed, and not a frozen one');
    }
    if (!Array.isArray(events) || !Object.isExtensible(events)) {
      throw invalid('session.events', 'must be an array that can be changed, and not a frozen one');
    }
    if (Object.isFrozen(session)) {
      throw invalid('session', 'is frozen, and an append changes it; append through a copy');
    }
    const lastEventId = lastIdOf(events);
    return { id, appName, userId, state, events, lastUpdateTime: NaN, given, lastEventId };
  } catch (error) {
    if (isSessionError(error)) throw error;
    throw invalid('session', 'cannot be read: its own code threw');
  }
}

/** The id of the last event of an array, which may hold anything where the caller made it. */
export function lastIdOf(events: readonly Event[]): string | undefined {
  const last = events[events.length - 1] as { readonly id?: unknown } | null | undefined;
  const id = last?.id;
  return typeof id === 'string' ? id : undefined;
}

/** The names that were checked last: the next append mostly comes through the same handle. */
const known: { id: unknown; appName: unknown; userId: unknown } = {
  id: undefined,
  appName: undefined,
  userId: undefined,
};

function requireNames(id: unknown, appName: unknown, userId: unknown): void {
  if (id !== undefined && id === known.id && appName === known.appName && userId === known.userId) {
    return;
  }
  requireId('session.id', id);
  requireId('session.appName', appName);
  requireId('session.userId', userId);
  known.id = id;
  known.appName = appName;
  known.userId = userId;
}
