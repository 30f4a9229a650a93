import type { Call, MaybePromise } from '../../core/call/call.js';
import { untilAborted } from '../../core/call/time_limit.js';
import { SessionError } from '../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { type EventCount, isEnough, mostOf } from '../../values/model/values/event_count.js';
import type { ReadPolicy } from '../../values/model/values/read_policy.js';
import type { Backend } from '../../core/storage/backend.js';
import { nextLast } from '../../core/storage/reads/growing_read.js';
import { StorageBackend } from '../../core/storage/driver/storage_backend.js';
import type { CopyLimits } from './copies/copy_limits.js';
import type { CacheContext } from './copies/context.js';
import type { Fetch, Fetched } from './copies/fetch.js';
import { unkeptStorage } from './copies/unkept.js';
import type { Births } from './data/births.js';
import { isRefusal } from './records/failures.js';
import { CacheStorage } from './storage/cache_storage.js';

export interface SessionReadParts extends CacheContext {
  readonly fetch: Fetch;
  readonly bounds: CopyLimits;
  readonly births: Births;
}

/** The events that a read needs. */
export interface EventNeed<T> {
  /** The newest events that the copy should have. */
  readonly need: EventCount;
  /** Whether the read fails if it cannot have them. Otherwise it returns those of the copy. */
  readonly isStrict?: boolean;
  /** @param copiedCount how many of the newest events the copy has, without the unsent */
  readonly isEnough: (read: T, copiedCount: EventCount) => boolean;
}

/** A read of one session. */
export interface SessionRead<T> extends EventNeed<T> {
  readonly key: CompositeSessionKey;
  readonly policy: ReadPolicy;
  readonly call: Call;
  /** Reads from the local data, or from what was fetched. */
  readonly read: (backend: Backend, storage: CacheStorage) => MaybePromise<T | undefined>;
  /** Waits for a fetch as `'network-first'` does. Returns `undefined` if it takes too long. */
  readonly inTime: <Result>(fetched: Promise<Result>) => Promise<Result | undefined>;
}

/** The result of a read, and the storage that it was read from, which knows how much is there. */
interface Found<T> {
  readonly result: T | undefined;
  readonly storage: CacheStorage;
}

/**
 * Reads a session from its copy. While the copy is missing or too short, more is fetched. The read returns what was
 * fetched for it, also if the copy is gone by then: bounds of this or another tab may delete it at once, and there may be
 * no room for it. It finds nothing only if the remote has said so.
 */
export async function readSession<T>(
  parts: SessionReadParts,
  session: SessionRead<T>,
): Promise<T | undefined> {
  const { data, fetch, bounds, births, report, remote } = parts;
  const { key, policy, call, read, need, isStrict = false } = session;
  const { erasure } = remote;
  const readFrom = async (storage: CacheStorage): Promise<Found<T>> => {
    const result = await read(new StorageBackend(storage), storage);
    if (storage.identity !== undefined) births.note(key, storage.identity);
    return { result, storage };
  };
  let fetched: Fetched | undefined;
  if (policy === 'network-first') fetched = await session.inTime(fetch.copy(key, need));
  for (let lastCount: EventCount = -1; ;) {
    // One storage for each read, because it records how much is here.
    let found = await readFrom(new CacheStorage(parts));
    const isDone = ({ result, storage }: Found<T>): boolean =>
      result !== undefined && session.isEnough(result, storage.copiedCount);
    let { isDeleted } = found.storage;
    if (!isDone(found) && !isDeleted && fetched?.window !== undefined) {
      const storage = await unkeptStorage(parts, key, fetched.window);
      const unkept = storage && (await readFrom(storage));
      // It was fetched and is not shown, because its deletion waits.
      isDeleted = unkept !== undefined && unkept.result === undefined;
      if (unkept && !isEnough(found.storage.copiedCount, unkept.storage.copiedCount))
        found = unkept;
    }
    const { result, storage } = found;
    const { copiedCount } = storage;
    if (isDone(found)) {
      if (policy !== 'cache-only') {
        bounds.markUsed(key);
        if (policy !== 'network-first' && fetched === undefined) fetch.copyLater(key, report);
      }
      return result;
    }
    const hasNoMore = result !== undefined && isEnough(lastCount, copiedCount);
    if (policy === 'cache-only' || isDeleted || fetched?.isAbsent === true || hasNoMore) {
      if (isStrict && result !== undefined) throw missingEvents(key);
      return result;
    }
    lastCount = copiedCount;
    erasure.throwIfAborted();
    try {
      const more = mostOf(need, nextLast(copiedCount, { factor: 2 }));
      const fetching = fetch.require(key, more);
      // A write meanwhile makes an unknown session known, even if the remote never answers.
      const waited = result === undefined ? data.untilChanged(key, fetching) : fetching;
      fetched = await untilAborted(call.signal, waited);
    } catch (error) {
      const isOffline = !isRefusal(error) && call.signal?.aborted !== true;
      if (result === undefined || !isOffline) throw error;
      if (isStrict) throw missingEvents(key, error);
      // Offline, the newest events are better than none.
      return result;
    }
  }
}

/** The error of a read that needs events which are not here. */
export function missingEvents({ sessionId }: CompositeSessionKey, cause?: unknown): SessionError {
  const id = JSON.stringify(sessionId);
  const message = `The copy of session ${id} lacks older events, and the remote cannot be asked for them now. Try again when there is a connection.`;
  return new SessionError('connection_lost', message, {
    storage: 'cache',
    missing: 'events',
    cause,
  });
}
