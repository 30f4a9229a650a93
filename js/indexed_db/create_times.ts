import type { CompositeSessionKey } from '../model/session.js';
import { CREATE_TIMES, META } from './layout.js';
import { resultOf, completion, openingFailure, withDatabase } from './requests.js';

/** The most sessions that are read in one transaction: each has its whole state. */
const BATCH = 500;

/** The key of a session, and the members that its missing `createTime` is computed from. These may be damaged. */
interface StoredSession extends CompositeSessionKey {
  readonly number: number;
  readonly lastUpdateTime: number;
}

/**
 * Returns a function that sets the `createTime` of the sessions of version 1, once for each database. It uses a
 * connection of its own: a mirror has no part in it.
 */
export function completingCreateTimes(name: string, timeout: number): () => Promise<void> {
  let completed: Promise<void> | undefined;
  return () => (completed ??= withDatabase(name, timeout, complete).catch(failed));

  async function complete(database: IDBDatabase): Promise<void> {
    let after: IDBKeyRange | undefined;
    for (;;) {
      const transaction = database.transaction(['sessions', META], 'readwrite');
      const meta = transaction.objectStore(META);
      if ((await resultOf(meta.getKey(CREATE_TIMES), timeout)) !== undefined) return;
      const sessions = transaction.objectStore('sessions');
      const stored = sessions.getAll(after, BATCH) as IDBRequest<StoredSession[]>;
      const records = await resultOf(stored, timeout);
      for (const record of records) {
        const { number, lastUpdateTime } = record;
        const createTime = Math.min(number, lastUpdateTime);
        if (!Object.hasOwn(record, 'createTime')) sessions.put({ ...record, createTime });
      }
      const last = records.at(-1);
      const isDone = last === undefined || records.length < BATCH;
      if (isDone) meta.put({ key: CREATE_TIMES });
      await completion(transaction, timeout);
      if (isDone) return;
      after = IDBKeyRange.lowerBound([last.appName, last.userId, last.sessionId], true);
    }
  }

  function failed(cause: unknown): never {
    completed = undefined;
    throw openingFailure(`The database "${name}"`, cause);
  }
}
