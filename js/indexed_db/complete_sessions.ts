import type { StoreName } from './layout.js';
import type { SessionRecord } from './listed_records.js';
import { completion, resultOf } from './requests.js';

/** The most sessions that one transaction reads: each has its whole state, and writers wait for it. */
const BATCH = 500;

/** A record that stands for finished work. */
export interface Note {
  readonly store: StoreName;
  readonly key: IDBValidKey;
  readonly record: object;
}

/**
 * Adds to a database what older packages did not store with their sessions. It reads all sessions, in several
 * transactions, and then stores the note. Does nothing if the note is there.
 *
 * @param complete makes the requests for a session; it may write to the stores of sessions and of the note
 */
export async function completeSessions(
  database: IDBDatabase,
  timeout: number,
  note: Note,
  complete: (session: SessionRecord, transaction: IDBTransaction) => void,
): Promise<void> {
  let after: IDBKeyRange | undefined;
  for (;;) {
    const transaction = database.transaction(['sessions', note.store], 'readwrite');
    const notes = transaction.objectStore(note.store);
    if ((await resultOf(notes.getKey(note.key), timeout)) !== undefined) return;
    const stored = transaction.objectStore('sessions').getAll(after, BATCH);
    const sessions = await resultOf(stored as IDBRequest<SessionRecord[]>, timeout);
    for (const session of sessions) complete(session, transaction);
    const last = sessions.length < BATCH ? undefined : sessions.at(-1);
    if (last === undefined) notes.put(note.record);
    await completion(transaction, timeout);
    if (last === undefined) return;
    after = IDBKeyRange.lowerBound([last.appName, last.userId, last.sessionId], true);
  }
}
