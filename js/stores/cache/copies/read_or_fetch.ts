import type { Call } from '../../../core/call/call.js';
import { untilAborted } from '../../../core/call/time_limit.js';
import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { type EventCount, isEnough, mostOf } from '../../../values/model/values/event_count.js';
import type { ReadPolicy } from '../../../values/model/values/read_policy.js';
import { nextLast } from '../../../core/storage/reads/growing_read.js';
import type { CopyLimits } from './copy_limits.js';
import type { CacheContext } from './context.js';
import type { CopyFetcher, Fetched } from './copy_fetcher.js';
import { unkeptData } from './unkept.js';
import type { Births } from '../data/births.js';
import type { LocalData } from '../data/local_data.js';
import { isRefusal } from '../records/failures.js';
import {
  type LocalPart,
  type LocalRead,
  readLocally,
  type LocalReads,
} from '../verbs/local_reads.js';

export interface SessionReadParts extends CacheContext {
  readonly fetch: CopyFetcher;
  readonly limits: CopyLimits;
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
export interface CopyRead<T> extends EventNeed<T> {
  readonly key: CompositeSessionKey;
  readonly policy: ReadPolicy;
  readonly call: Call;
  /** Reads from the local data, or from what was fetched. */
  readonly read: (reads: LocalReads, part: LocalPart) => Promise<T | undefined>;
  /** Waits for a fetch as `'network-first'` does. Returns `undefined` if it takes too long. */
  readonly inTime: <Result>(fetched: Promise<Result>) => Promise<Result | undefined>;
}

/**
 * Reads a session from its copy. While the copy is missing or too short, more is fetched. The read returns what was
 * fetched for it, also if the copy is gone by then: limits of this or another tab may delete it at once, and there may be
 * no room for it. It finds nothing only if the remote has said so.
 */
export async function readOrFetch<T>(
  parts: SessionReadParts,
  session: CopyRead<T>,
): Promise<T | undefined> {
  const { data, fetch, limits, births, report, remote } = parts;
  const { key, policy, call, read, need, isStrict = false } = session;
  const { ended } = remote;
  const readFrom = async (data: LocalData): Promise<LocalRead<T | undefined>> => {
    const found = await readLocally(data, key, read);
    if (found.part.identity !== undefined) births.note(key, found.part.identity);
    return found;
  };
  let fetched: Fetched | undefined;
  if (policy === 'network-first') fetched = await session.inTime(fetch.refresh(key, need));
  for (let lastCount: EventCount = -1; ;) {
    let found = await readFrom(data);
    const isDone = ({ result, part }: LocalRead<T | undefined>): boolean =>
      result !== undefined && session.isEnough(result, part.copiedCount);
    let { isDeleted } = found.part;
    if (!isDone(found) && !isDeleted && fetched?.window !== undefined) {
      const local = await unkeptData(parts, key, fetched.window);
      const unkept = local && (await readFrom(local));
      // It was fetched and is not shown, because its deletion waits.
      isDeleted = unkept !== undefined && unkept.result === undefined;
      if (unkept && !isEnough(found.part.copiedCount, unkept.part.copiedCount)) found = unkept;
    }
    const { result, part } = found;
    const { copiedCount } = part;
    if (isDone(found)) {
      if (policy !== 'cache-only') {
        limits.markUsed(key);
        if (policy !== 'network-first' && fetched === undefined) fetch.refreshLater(key, report);
      }
      return result;
    }
    const hasNoMore = result !== undefined && isEnough(lastCount, copiedCount);
    if (policy === 'cache-only' || isDeleted || fetched?.isAbsent === true || hasNoMore) {
      if (isStrict && result !== undefined) throw missingEvents(key);
      return result;
    }
    lastCount = copiedCount;
    ended.throwIfAborted();
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
