/**
 * An append of one event, which is what nearly all are, without anything in Rust that waits: it is begun
 * there, asked what to write once the adapter has read, and ended.
 */
import { begin_append, end_append, requireRoom } from '../core.js';
import { type AppendAnswer, PLACE_UNIT, WANTS_CHANGED } from '../wasm/protocol.js';
import type { Session } from '../session.js';
import type { EventSnapshot } from '../snapshot.js';
import type { Changes, StorageAdapter, WriteRequest } from './adapter.js';
import { decide, isWithoutEvents } from './decide.js';
import { ownMembers } from '../json/own.js';
import { scopesOf } from './scopes.js';
import { writeThrough } from './write_through.js';

/**
 * Appends over one adapter. Answers at once where that does, with what `append_events` answers; with `null`,
 * having written nothing, where only that can ask for all that is needed.
 */
export type AppendOne = (
  session: Session,
  known: { readonly created: number; readonly revision: number },
  policy: number,
  event: EventSnapshot,
  now: number,
  signal: AbortSignal | undefined,
) => AppendAnswer | null | Promise<AppendAnswer | null>;

/** `since`, where nothing that changed is wanted: a revision that is later than all. */
const NEVER = Number.MAX_SAFE_INTEGER;

export function appendOne(
  adapter: StorageAdapter,
  ...[session, known, policy, event, now, signal]: Parameters<AppendOne>
): ReturnType<AppendOne> {
  const { appName, userId, id: sessionId } = session;
  const { created, revision } = known;
  const { id, timestamp, deltaText, text } = event;
  requireRoom(deltaText.length);
  // prettier-ignore
  const begun = begin_append(
    id + deltaText, id.length, text, created, revision, policy, now, timestamp,
  );
  const wanted = begun % PLACE_UNIT;
  const place = (begun - wanted) / PLACE_UNIT;
  const scopes = wanted % WANTS_CHANGED;
  const key = { appName, userId, sessionId };
  const request = ownMembers<WriteRequest>({
    key,
    scopes: scopesOf(scopes),
    eventIds: [id],
    since: wanted < WANTS_CHANGED ? NEVER : revision,
    lastUpdateTime: Math.min(timestamp, now),
    ...(signal !== undefined && { signal }),
  });
  let changes: Changes | undefined;
  let isPlain = false;
  const end = (): AppendAnswer | null => {
    // Only Rust knows more of it, or why it was refused.
    if (!isPlain || changes?.session === undefined) {
      return end_append(place, sessionId) as AppendAnswer | null;
    }
    end_append(place);
    const { session, user, app } = changes;
    return [
      session.created,
      session.revision,
      session.lastUpdateTime,
      revision,
      [],
      [],
      user?.revision ?? 0,
      app?.revision ?? 0,
    ];
  };
  const fail = (error: unknown): never => {
    end_append(place);
    throw error;
  };
  let written: void | Promise<void>;
  try {
    written = writeThrough(adapter, 'append', request, (found) => {
      changes = decide('append', place, scopes, key, event, found);
      isPlain = isWithoutEvents(found);
      return changes;
    });
  } catch (error) {
    return fail(error);
  }
  return written === undefined ? end() : written.then(end, fail);
}
