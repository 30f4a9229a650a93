/** Reads a session that was fetched and has no copy: limits have deleted it at once, or there is no room for it. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { LocalData } from '../data/local_data.js';
import { MemoryLocalStore } from '../local_store/memory_local_store.js';
import { type FetchStart, applySession } from './copy_writer.js';
import type { RemoteSession } from './remote_connection.js';

/** A session with its newest events, as a fetch has brought it. */
export interface FetchedWindow {
  readonly session: RemoteSession;
  readonly start: FetchStart;
}

/** The numbers that a copy draws beside those of its events. */
const OTHER_NUMBERS = 16;

/**
 * Puts the fetched session into a store of its own in memory, with the mutations of the session over it.
 *
 * Its numbers lie below the owner's counter. So no later copy is mistaken for this read, and a handle of this read
 * notices everything that is stored from now on. New numbers would have to be stored, and there may be no room.
 *
 * @returns the data to read from; `undefined` if the local data has something newer by now
 */
export async function uncachedData(
  { data, clock }: { readonly data: LocalData; readonly clock: () => number },
  key: CompositeSessionKey,
  { session, start }: FetchedWindow,
): Promise<LocalData | undefined> {
  const found = await data.read(async (transaction) => {
    const copy = (await transaction.copies.get(key))?.copy;
    const isNewer = copy?.created === session.created && copy.revision > session.revision;
    if (isNewer) return undefined;
    return { owner: transaction.owner, entries: await transaction.entriesOf(key) };
  });
  if (found === undefined) return undefined;
  const counter = found.owner.counter - 2 * session.events.length - OTHER_NUMBERS;
  const store = new MemoryLocalStore();
  await store.transaction('readwrite', async (transaction) => {
    await transaction.put('states', [data.owner], { ...found.owner, counter });
    for (const entry of found.entries) await transaction.put(...entry);
  });
  const local = new LocalData({ store, owner: data.owner });
  local.mayBegin();
  await local.write((transaction) => applySession(transaction, key, session, start, clock()));
  return local;
}
