/** Reads a session that was fetched and has no copy: bounds have deleted it at once, or there is no room for it. */
import { isSessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { LocalData } from '../data/local_data.js';
import { MemoryLocalStore } from '../local/memory_local_store.js';
import { CacheStorage, type CacheStorageParts } from '../storage/cache_storage.js';
import { type FetchStart, takeSession } from './copy_writer.js';
import type { RemoteSession } from './remote_end.js';

/** A session with its newest events, as a fetch has brought it. */
export interface FetchedWindow {
  readonly session: RemoteSession;
  readonly start: FetchStart;
}

/** The numbers that a copy draws beside those of its events. */
const OTHER_NUMBERS = 16;

/**
 * Lays what was fetched into a store of its own in memory, under the operations of the session.
 *
 * @returns the storage to read from; `undefined` if the local data has something newer by now
 */
export async function unkeptStorage(
  { data, clock }: CacheStorageParts,
  key: CompositeSessionKey,
  { session, start }: FetchedWindow,
): Promise<CacheStorage | undefined> {
  // A handle of this read must not be taken for one of a later copy, so the copy's numbers are drawn.
  const count = 2 * session.events.length + OTHER_NUMBERS;
  const entries = await drawing(data, count, async (transaction) => {
    transaction.drawUpTo(start.began);
    const copy = (await transaction.session(key))?.copy;
    const isNewer = copy?.created === session.created && copy.revision > session.revision;
    return isNewer ? undefined : transaction.entriesOf(key);
  });
  if (entries === undefined) return undefined;
  const store = new MemoryLocalStore();
  await store.transaction('readwrite', async (transaction) => {
    for (const entry of entries) await transaction.put(...entry);
  });
  const local = new LocalData({ store, owner: data.owner });
  local.mayBegin();
  await local.write((transaction) => takeSession(transaction, key, session, start, clock()));
  return new CacheStorage({ data: local, clock });
}

/** Runs work in a transaction that draws numbers. Without room for that, the work only reads. */
async function drawing<T>(
  data: LocalData,
  count: number,
  work: (transaction: CacheTransaction) => Promise<T>,
): Promise<T> {
  try {
    return await data.write(async (transaction) => {
      const result = await work(transaction);
      transaction.drawUpTo(transaction.counter + count);
      return result;
    });
  } catch (error) {
    if (!isSessionError(error, 'quota_exceeded')) throw error;
    return data.read(work);
  }
}
