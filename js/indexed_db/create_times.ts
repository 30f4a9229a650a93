import { completeSessions, type Note } from './complete_sessions.js';
import { CREATE_TIMES, META } from './layout.js';
import type { SessionRecord } from './listed_records.js';
import { openingFailure, withDatabase } from './requests.js';

const NOTE: Note = { store: META, key: CREATE_TIMES, record: { key: CREATE_TIMES } };

/**
 * Returns a function that sets the `createTime` of the sessions of version 1, once for each database. It uses a
 * connection of its own.
 */
export function completingCreateTimes(name: string, timeout: number): () => Promise<void> {
  let completed: Promise<void> | undefined;
  return () => (completed ??= withDatabase(name, timeout, complete).catch(failed));

  function complete(database: IDBDatabase): Promise<void> {
    return completeSessions(database, timeout, NOTE, putCreateTime);
  }

  function failed(cause: unknown): never {
    completed = undefined;
    throw openingFailure(`The database "${name}"`, cause);
  }
}

function putCreateTime(session: SessionRecord, transaction: IDBTransaction): void {
  if (Object.hasOwn(session, 'createTime')) return;
  // Both may be damaged. The time is then NaN, and the session is in no list by creation.
  const createTime = Math.min(session.number as number, session.lastUpdateTime as number);
  transaction.objectStore('sessions').put({ ...session, createTime });
}
