import { CREATE_TIMES, META } from './layout.js';
import { resultOf, completion, openingFailure, withDatabase } from './requests.js';

/** The members of a session that its missing `createTime` is computed from. Each may be damaged. */
interface SessionTimes {
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
    const transaction = database.transaction(['sessions', META], 'readwrite');
    const meta = transaction.objectStore(META);
    if ((await resultOf(meta.getKey(CREATE_TIMES), timeout)) !== undefined) return;
    const sessions = transaction.objectStore('sessions');
    const records = sessions.getAll() as IDBRequest<SessionTimes[]>;
    for (const record of await resultOf(records, timeout)) {
      const { number, lastUpdateTime } = record;
      const createTime = Math.min(number, lastUpdateTime);
      if (!Object.hasOwn(record, 'createTime')) sessions.put({ ...record, createTime });
    }
    meta.put({ key: CREATE_TIMES });
    await completion(transaction, timeout);
  }

  function failed(cause: unknown): never {
    completed = undefined;
    throw openingFailure(`The database "${name}"`, cause);
  }
}
