/** Fetches the sums of a session's events: their number, bytes and tokens. The copy keeps those of its older events. */
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { addSums } from '../../../core/storage/reads/session_info.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { hasCopy } from '../records/records.js';
import type { CopyLimits } from './copy_limits.js';
import type { CacheContext } from './context.js';
import type { CopyFetcher } from './copy_fetcher.js';
import { sumsOfTexts } from './older_sums.js';
import type { RemoteSums } from './remote_connection.js';

interface Parts extends Pick<CacheContext, 'remote'> {
  readonly fetch: CopyFetcher;
  readonly limits: CopyLimits;
}

/** How often the remote is asked while others change the session. */
const ATTEMPTS = 3;

/**
 * Asks the remote for the sums of all events of a session, or only for their number. The copy keeps the difference to
 * the sums of its own events. For that it must have the revision of the answer. If it does not, it is brought up to
 * date.
 *
 * @returns the answer; see `RemoteConnection.sums`
 */
export async function fetchSums(
  { fetch, limits, remote }: Parts,
  key: CompositeSessionKey,
  isNumber: boolean,
): Promise<RemoteSums | 'unknown' | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const told = await remote.sums(key, isNumber);
    if (told === undefined || told === 'unknown') return told;
    const take = (transaction: CacheTransaction) => takeSums(transaction, key, told);
    if (await limits.store(key, 0, take)) return told;
    await fetch.refresh(key);
    if ((await limits.store(key, 0, take)) || attempt === ATTEMPTS) return told;
  }
}

/** @returns `false` if the copy has another revision than the answer */
async function takeSums(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  told: RemoteSums,
): Promise<boolean> {
  const record = await transaction.copies.get(key);
  if (!hasCopy(record) || !record.copy.hasOlder) return true;
  const { copy } = record;
  const { created, revision, first, next, isStale } = copy;
  if (isStale || created !== told.created || revision !== told.revision) return false;
  const { sums } = told;
  const stored =
    sums === undefined ? [] : await transaction.copies.events(key).between(first, next);
  const older = sums && addSums(sums, sumsOfTexts(stored), -1);
  const eventCount = told.eventCount - (next - first);
  const olderSums = { eventCount, sums: older ?? copy.olderSums?.sums };
  await transaction.copies.put(key, { ...record, copy: { ...copy, olderSums } });
  return true;
}
