import type { Call } from '../../core/call/call.js';
import { isSessionError } from '../../values/errors/errors.js';
import { endsWithin, untilAborted } from '../../core/call/time_limit.js';
import type { ReadPolicy } from '../../values/model/values/read_policy.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StoredEvents } from '../../values/model/event_page.js';
import { type EventCount, isEnough } from '../../values/model/values/event_count.js';
import {
  runRead,
  type ChangedSession,
  type IdsRequest,
  type InfoRequest,
  type PageRequest,
  type ReadInfo,
  type ReadPage,
  type ReadSession,
  type ReadVerbs,
  type SinceRequest,
  type WindowRequest,
} from '../../core/read.js';
import type { ListRequest, ReadList, StateRequest, Store } from '../../core/storage/store.js';
import { addSums, type EventSums, readInfo } from '../../core/storage/reads/session_info.js';
import { fetchSums } from './copies/fetch_sums.js';
import type { Lists } from './copies/lists.js';
import type { CacheKey } from './records/cache_key.js';
import { isRefusal } from './records/failures.js';
import {
  type LocalPart,
  type LocalReads,
  NO_SUMS,
  readList,
  readState,
} from './verbs/local_reads.js';
import { olderInvocations } from './verbs/older_invocations.js';
import {
  type CopyRead,
  type EventNeed,
  missingEvents,
  readOrFetch,
  type SessionReadParts,
} from './copies/read_or_fetch.js';

export interface ReadParts extends SessionReadParts {
  readonly lists: Lists;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  /** Called with what is read, so that the leading tab follows it. The first call may make this tab the leader. */
  readonly follow: (key: CacheKey) => void;
}

/** Reads something of a session, or of a user or an app, from the local storage or from the remote. */
type CacheRead<T> = (store: SharedReads, call: Call) => Promise<T>;

type SharedReads = Pick<Store, 'read' | 'list' | 'state'>;

/** What a session holds, as far as this device has it, and the sums of its older events. */
interface InfoOfCopy extends ReadInfo {
  readonly olderSums: EventSums | undefined;
}

/** How a list or a state is fetched. */
interface ListFetch {
  readonly fetch: () => Promise<void>;
  /** Whether it was fetched before. */
  readonly isThere: () => Promise<boolean>;
  /** Whether the first read fails with this error. */
  readonly isFatal: (error: unknown) => boolean;
}

/** Reads the local data, and brings it up to date before or after that, as the policy of the read says. */
export class CacheReads implements ReadVerbs {
  readonly #parts: ReadParts;

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  readonly read: Store['read'] = (request, call) => runRead(this, request, call);

  window(request: WindowRequest, call: Call): Promise<ReadSession | undefined> {
    const { key, last, after } = request;
    const need = after === undefined ? (last ?? 'all') : 'all';
    const events: EventNeed<ReadSession> = {
      need,
      isStrict: last === 'all',
      isEnough: (_, copiedCount) => isEnough(copiedCount, need),
    };
    return this.#readSession(key, events, call, async (store, call, part) => {
      const read = await store.read({ ...request, kind: 'window' }, call);
      if (read === undefined || part?.hasOlder !== true || after !== undefined) return read;
      const hasAllOfCopy = typeof last !== 'number' || read.events.length < last;
      if (!hasAllOfCopy) return read;
      return { ...read, olderInvocations: olderInvocations(read.events, part) };
    });
  }

  /** Reads a page. If the number of events is not known here, the remote is asked for it. */
  async page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    const page = await this.#page(request, call);
    const { key, withCount } = request;
    if (!withCount || page?.events === undefined || page.eventCount !== undefined) return page;
    let told: Awaited<ReturnType<typeof fetchSums>>;
    try {
      told = await this.#fetchSums(key, call, true);
    } catch (error) {
      if (call.signal?.aborted === true || this.#parts.remote.isClosed) throw error;
    }
    if (told === undefined) return page;
    if (told === 'unknown') return this.#page(request, call, 'all');
    const counted = await this.#page(request, { ...call, reads: 'cache-only' });
    return counted?.eventCount === undefined ? { ...page, eventCount: told.eventCount } : counted;
  }

  /** Reads what a session holds. If the sums of older events are not known here, the remote is asked for them. */
  async info(request: InfoRequest, call: Call): Promise<ReadInfo | undefined> {
    const { key } = request;
    const here = await this.#info(request, call);
    if (here === undefined || here.olderSums !== undefined) return here && withOlder(here);
    let told: Awaited<ReturnType<typeof fetchSums>>;
    try {
      told = await this.#fetchSums(key, call, false);
    } catch (error) {
      if (isRefusal(error) || call.signal?.aborted === true) throw error;
      throw missingEvents(key, error);
    }
    if (told === 'unknown') {
      const whole = await this.#info(request, call, 'all');
      return whole && withOlder(whole);
    }
    const counted = await this.#info(request, { ...call, reads: 'cache-only' });
    if (counted?.olderSums !== undefined) return withOlder(counted);
    if (told?.sums === undefined) throw missingEvents(key);
    const { eventCount, bytes, usage } = told.sums;
    return { ...here, info: { ...here.info, eventCount, bytes, usage } };
  }

  #info(request: InfoRequest, call: Call, need: EventCount = 1): Promise<InfoOfCopy | undefined> {
    const events: EventNeed<InfoOfCopy> = {
      need,
      isStrict: need === 'all',
      isEnough: (_, copiedCount) => need !== 'all' || copiedCount === 'all',
    };
    return this.#readSession(request.key, events, call, async (store, call, part) => {
      const read = await readInfo(store, request, call);
      const known = part === undefined ? NO_SUMS : part.olderSums;
      return read && { ...read, olderSums: known?.sums };
    });
  }

  async #fetchSums(key: CompositeSessionKey, call: Call, isNumber: boolean) {
    if (this.policyOf(call) === 'cache-only') return undefined;
    return untilAborted(call.signal, fetchSums(this.#parts, key, isNumber));
  }

  async #page(request: PageRequest, call: Call, all?: 'all'): Promise<ReadPage | undefined> {
    const { key, direction, eventId, limit } = request;
    const isFirst = direction === 'after' && eventId === undefined;
    // One event more than the page shows whether there are older ones.
    const newest = eventId === undefined ? limit + 1 : 0;
    const need = all ?? (isFirst ? 'all' : newest);
    const events: EventNeed<ReadPage> = {
      need,
      isEnough: ({ hasOlder }, copiedCount) =>
        copiedCount === 'all' || (need !== 'all' && hasOlder === true),
    };
    let hasMore = false;
    const read = await this.#readSession(key, events, call, async (store, call, part) => {
      const page = await store.read({ ...request, kind: 'page' }, call);
      hasMore = part?.hasOlder === true;
      const identity = part?.identity;
      if (page === undefined || identity === undefined) return page;
      return { ...page, created: this.#parts.births.known(key, request.created, identity) };
    });
    // The remote has older events than the copy. An empty page has no cursor to continue from.
    const hasOlder = hasMore && (read?.events ?? []).length > 0;
    return read && hasOlder ? { ...read, hasOlder } : read;
  }

  /** The revisions in the request are those of the copy, so the remote cannot stand in for it. */
  since(request: SinceRequest, call: Call): Promise<ChangedSession | undefined> {
    const events: EventNeed<ChangedSession> = { need: 0, isEnough: () => true };
    return this.#readLocal(request.key, events, call, async (reads) =>
      reads.read({ ...request, kind: 'since' }, call),
    );
  }

  #readSession<T>(
    key: CompositeSessionKey,
    events: EventNeed<T>,
    call: Call,
    read: (store: LocalReads, call: Call, part?: LocalPart) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    return this.#orFromRemote(call, read, () =>
      this.#readLocal(key, events, call, async (reads, part) => read(reads, call, part)),
    );
  }

  /** Reads a copy. What it lacks is fetched if the remote has it. */
  async ids(request: IdsRequest, call: Call): Promise<StoredEvents | undefined> {
    const { key, eventIds } = request;
    let isWhole = false;
    const read = (needed: readonly string[]) => {
      const isEnough = ({ events }: StoredEvents, copiedCount: EventCount): boolean => {
        isWhole = copiedCount === 'all';
        return isWhole || missingFrom(events, needed).length === 0;
      };
      return this.#readSession(key, { need: 1, isEnough }, call, (store, call) =>
        store.read({ ...request, kind: 'ids' }, call),
      );
    };
    const found = await read([]);
    const missing = missingFrom(found?.events ?? [], eventIds);
    const isKnown = isWhole || missing.length === 0 || this.policyOf(call) === 'cache-only';
    if (found === undefined || isKnown) return found;
    const { remote } = this.#parts;
    const asked = remote.ask(
      (store, call) => store.read({ kind: 'ids', key, eventIds: missing }, call),
      call,
    );
    const stored = await untilAborted(call.signal, asked);
    return stored === undefined || stored.events.length === 0
      ? found
      : read(stored.events.map(({ event }) => event.id));
  }

  #readLocal<T>(
    key: CompositeSessionKey,
    events: EventNeed<T>,
    call: Call,
    read: CopyRead<T>['read'],
  ): Promise<T | undefined> {
    const policy = this.policyOf(call);
    if (policy !== 'cache-only') this.#parts.follow(key);
    return readOrFetch<T>(this.#parts, {
      ...events,
      key,
      policy,
      call,
      inTime: (fetched) => this.#inTime(fetched, call),
      read: async (reads, part) => {
        try {
          return await read(reads, part);
        } catch (error) {
          if (isDamagedEvent(error)) this.#fetchDamaged(key);
          throw error;
        }
      },
    });
  }

  list(request: ListRequest, call: Call): Promise<ReadList> {
    const { appName, userId } = request;
    const { data, lists, follow } = this.#parts;
    const owner = { appName, userId };
    if (this.policyOf(call) !== 'cache-only') follow(owner);
    const list: CacheRead<ReadList> = (store, call) => store.list(request, call);
    return this.#orFromRemote(call, list, async () => {
      await this.#receive(call, {
        fetch: () => lists.fetch(owner),
        isThere: () => lists.hasList(owner),
        // Without a connection, the copies are all there is.
        isFatal: isRefusal,
      });
      return readList(data, request, call);
    });
  }

  state(request: StateRequest, call: Call): Promise<string> {
    const { appName, userId } = request;
    const { data, lists, follow } = this.#parts;
    const owner = { appName, userId };
    // The feed of a user reports the app's state too. The feed of an app would report the sessions of all users.
    if (userId !== undefined && this.policyOf(call) !== 'cache-only') follow(owner);
    const read: CacheRead<string> = (store, call) => store.state(request, call);
    return this.#orFromRemote(call, read, async () => {
      await this.#receive(call, {
        fetch: () => lists.fetchState(owner),
        isThere: () => lists.hasState(owner),
        isFatal: () => false,
      });
      return readState(data, request, call);
    });
  }

  /** Fetches a list or a state, and waits for it as the policy says. */
  async #receive(call: Call, { fetch, isThere, isFatal }: ListFetch): Promise<void> {
    const { report } = this.#parts;
    const policy = this.policyOf(call);
    if (policy === 'cache-only') return;
    if (policy === 'network-first') return this.#inTime(fetch(), call);
    const isFirst = !(await isThere());
    const fetched = fetch().catch((error: unknown) => {
      if (isFirst && isFatal(error)) throw error;
      report(error);
    });
    if (isFirst) await untilAborted(call.signal, fetched);
  }

  /**
   * Reads the local storage, or the remote if the local storage cannot be read. It changes nothing that is stored.
   *
   * @param readLocal reads the local storage
   */
  async #orFromRemote<T>(call: Call, read: CacheRead<T>, readLocal: () => Promise<T>): Promise<T> {
    const { remote, report } = this.#parts;
    try {
      return await readLocal();
    } catch (error) {
      if (this.policyOf(call) === 'cache-only' || !isUnreadable(error)) throw error;
      report(error);
      return untilAborted(call.signal, remote.ask(read, call));
    }
  }

  /** Fetches a copy again that has a damaged event. */
  #fetchDamaged(key: CompositeSessionKey): void {
    const { data, fetch, report } = this.#parts;
    data
      .write(async (transaction) => {
        const record = await transaction.copies.get(key);
        if (record?.copy === undefined) return;
        const copy = { ...record.copy, isStale: true };
        await transaction.copies.put(key, { ...record, copy });
      })
      .then(() => fetch.refresh(key))
      .catch(report);
  }

  policyOf(call: Call): ReadPolicy {
    return call.reads ?? this.#parts.reads;
  }

  /** Waits for a fetch, but not for longer than a read may wait. Without a connection there is the copy. */
  async #inTime<T>(fetched: Promise<T>, call: Call): Promise<T | undefined> {
    const { readTimeoutMs, report } = this.#parts;
    let result: T | undefined;
    const settled = fetched.then((value) => {
      result = value;
    }, report);
    await endsWithin(readTimeoutMs, settled, call.signal);
    return result;
  }
}

/** Returns what a session holds with its older events. */
function withOlder({ olderSums, info, ...read }: InfoOfCopy): ReadInfo {
  return { ...read, info: { ...info, ...addSums(info, olderSums!) } };
}

/** Returns the ids that none of the events has. */
function missingFrom(events: StoredEvents['events'], ids: readonly string[]): string[] {
  const found = new Set(events.map(({ event }) => event.id));
  return ids.filter((id) => !found.has(id));
}

/** The codes of a local storage that cannot be read. */
const UNREADABLE = ['corrupt_record', 'storage_newer', 'storage_failed', 'storage_unavailable'];

function isUnreadable(error: unknown): boolean {
  return isSessionError(error) && UNREADABLE.includes(error.code) && !isDamagedEvent(error);
}

/** Whether a single event is damaged. The remote cannot stand in: it lacks the unsent events of the session. */
function isDamagedEvent(error: unknown): boolean {
  return isSessionError(error, 'corrupt_record') && error.record?.startsWith('event ') === true;
}
