/**
 * The copy of a session that moves from one store to another: its stored texts, written in one transaction.
 *
 * Creating the session and appending its events would fail in two ways. The deltas of old events would
 * overwrite newer `user:` and `app:` values. A program that ends halfway would leave half a session.
 */
import { createHash } from 'node:crypto';
import { snapshotDelta } from '../../state/delta.js';
import { isShared, isTemp } from '../../state/scope.js';
import { malformedFile } from '../../files/format/malformed_file.js';
import { setDescription, takeDescription } from '../../model/description.js';
import type { StoredSession } from '../../files/format/session_file.js';
import type { Session } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import { snapshotEvent } from '../../model/event/snapshot.js';
import type { EventRow, SessionRow, StorageKey } from '../../storage/rows.js';

export interface SessionCopy extends Pick<
  SessionRow,
  'lastUpdateTime' | 'state' | 'title' | 'labels' | 'initialState'
> {
  readonly key: Required<StorageKey>;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** In append order. */
  readonly events: readonly Pick<EventRow, 'id' | 'timestamp' | 'text'>[];
  /**
   * The `user:` and `app:` keys that its agents saw. They are not part of the session; only files store them
   * with it.
   */
  readonly shared: Readonly<StateShape>;
}

/** The state of a user or an app. */
export interface StateCopy {
  readonly key: Omit<StorageKey, 'sessionId'>;
  /** JSON text; keys without prefix. */
  readonly state: string;
}

/**
 * Returns the copy of a session that was read from a file.
 *
 * @throws SessionError `invalid_argument` without an id, since each run would store the session under another
 *   one; `unserializable` with the path
 */
export function toSessionCopy({ session, initialState }: StoredSession): SessionCopy {
  const { id: sessionId, appName, userId, lastUpdateTime } = session;
  if (sessionId === '') throw malformedFile(['id'], 'is missing; add an id to the session');
  const entries = Object.entries(session.state).filter(([key]) => !isTemp(key));
  const own = entries.filter(([key]) => !isShared(key));
  const key = { appName, userId, sessionId };
  return {
    key,
    created: Math.min(session.events[0]?.timestamp ?? lastUpdateTime, lastUpdateTime),
    lastUpdateTime,
    state: snapshotDelta(Object.fromEntries(own), 'state').text,
    events: session.events.map((event, at) => {
      const newId = () => eventIdAt(key, at);
      const { id, timestamp, text } = snapshotEvent(event, () => lastUpdateTime, newId);
      return { id, timestamp, text };
    }),
    shared: Object.fromEntries(entries.filter(([key]) => isShared(key))),
    ...takeDescription(session),
    initialState: initialState && snapshotDelta(initialState, 'initialState').text,
  };
}

/**
 * Returns an id for an event without one. It is the same in each run, so that a second run finds the stored
 * event.
 */
function eventIdAt({ appName, userId, sessionId }: Required<StorageKey>, at: number): string {
  return sha256(JSON.stringify([appName, userId, sessionId, at])).slice(0, 32);
}

/** Returns a text that is unique for the key. */
export function keyText({ appName, userId, sessionId }: StorageKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/** Returns the SHA-256 of a text, in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the session as an agent sees it, and its initial state, for files. */
export function toStoredSession({ key, lastUpdateTime, ...copy }: SessionCopy): StoredSession {
  const { appName, userId, sessionId: id } = key;
  const own = JSON.parse(copy.state) as StateShape;
  const session: Session = {
    id,
    appName,
    userId,
    state: { ...own, ...copy.shared },
    events: copy.events.map(({ text }) => JSON.parse(text) as Session['events'][number]),
    lastUpdateTime,
  };
  return {
    session: setDescription(session, copy.title, copy.labels),
    initialState:
      copy.initialState === undefined ? undefined : (JSON.parse(copy.initialState) as StateShape),
  };
}
