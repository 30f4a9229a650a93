import type { MaybePromise } from '../call/call.js';
import { Deadline } from '../call/deadline.js';
import { isSessionError } from '../errors/errors.js';
import { untilAborted } from '../call/time_limit.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { CompositeSessionKey } from '../model/session.js';
import { parseEvents } from '../read/stored_events.js';
import { AdapterStore } from '../storage/driver/adapter_store.js';
import type { StorageKey } from '../storage/rows.js';
import type { StateOwner } from '../storage/scopes.js';
import type {
  EventPageRequest,
  ListPageRequest,
  ReadEvents,
  ReadList,
  ReadSession,
  SessionStore,
} from '../storage/session_store.js';
import type { Bounds } from './copies/bounds.js';
import type { Fetch } from './copies/fetch.js';
import type { Lists } from './copies/lists.js';
import type { RemoteEnd } from './copies/remote_end.js';
import type { ReadPolicy } from './options.js';
import type { CacheKey } from './records/cache_key.js';
import { isRefusal } from './records/failures.js';
import type { LocalData } from './data/local_data.js';
import { CacheStorage } from './storage/cache_storage.js';

/** The member of a request that holds its own policy. */
export const READS = Symbol('reads');

export interface ReadParts {
  readonly data: LocalData;
  readonly clock: () => number;
  readonly remote: RemoteEnd;
  readonly fetch: Fetch;
  readonly lists: Lists;
  readonly bounds: Bounds;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  readonly report: (error: unknown) => void;
  /** Called with what is read, so that the leading tab follows it. */
  readonly follow: (key: CacheKey) => void;
}

/** Reads something of a session, or of a user or an app, from the local storage or from the remote. */
type Read<T> = (store: SessionStore, call: StorageCall, isCopy: boolean) => MaybePromise<T>;

/** The events that a read needs. */
interface EventNeed<T> {
  /** The newest events that the copy should have. */
  readonly need: number;
  /** @param size how many of the newest events the copy has at least; `Infinity`: all */
  readonly isEnough: (read: T, size: number) => boolean;
}

/** How a list or a state is fetched. */
interface Reception {
  readonly fetch: () => Promise<void>;
  /** Whether it was fetched before. */
  readonly isThere: () => Promise<boolean>;
  /** Whether the first read fails with this error. */
  readonly isFatal: (error: unknown) => boolean;
}

/** Reads the local data, and brings it up to the remote as the policy of a read says. */
export class CopyReads {
  readonly #parts: ReadParts;
  protected readonly store: AdapterStore;
  /** The sessions whose events were read, and whether from the local data. */
  readonly #sources = new WeakMap<
    object,
    { readonly key: CompositeSessionKey; readonly isCopy: boolean }
  >();

  constructor(parts: ReadParts) {
    this.#parts = parts;
    const storage = new CacheStorage(parts);
    this.store = new AdapterStore(storage, storage);
  }

  get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    call: StorageCall,
  ): Promise<ReadSession | undefined> {
    const need = after === undefined ? (last ?? Infinity) : Infinity;
    const isEnough = (_: ReadSession, size: number): boolean => need <= size;
    return this.#readSession(key, { need, isEnough }, call, async (store, call, isCopy) => {
      const read = await store.get(key, last, after, call);
      if (read !== undefined) this.#sources.set(read[4], { key, isCopy });
      return read;
    });
  }

  page(
    key: Required<StorageKey>,
    page: EventPageRequest,
    call: StorageCall,
  ): Promise<ReadEvents | undefined> {
    const { isForward, eventId, limit = Infinity, withCount } = page;
    const isFirst = isForward && eventId === undefined;
    // One more than the newest page has tells whether there are older ones.
    const newest = eventId === undefined ? limit + 1 : 0;
    const need = isFirst || withCount || limit === Infinity ? Infinity : newest;
    const isEnough = ([, , hasOlder]: ReadEvents, size: number): boolean =>
      size === Infinity || (need < Infinity && hasOlder === true);
    return this.#readSession(key, { need, isEnough }, call, async (store, call, isCopy) => {
      const read = await store.page(key, page, call);
      if (read?.[1] !== undefined) this.#sources.set(read[1], { key, isCopy });
      return read;
    });
  }

  /** Reads a copy, and fetches it before if it is missing or too short. */
  #readSession<T extends readonly unknown[]>(
    key: CompositeSessionKey,
    { need, isEnough }: EventNeed<T>,
    call: StorageCall,
    read: Read<T | undefined>,
  ): Promise<T | undefined> {
    const { fetch, bounds, report, follow } = this.#parts;
    const policy = this.policyOf(call);
    if (policy !== 'cache-only') follow(key);
    // One instance for each read, because it records how much is here.
    const storage = new CacheStorage(this.#parts);
    const store = new AdapterStore(storage, storage);
    return this.#read(call, read, store, async (readCopy) => {
      if (policy === 'network-first') await this.#inTime(fetch.copy(key, need), call);
      for (let lastSize = -1; ;) {
        const copy = await readCopy();
        if (policy === 'cache-only') return copy;
        const { size, isDeleted } = storage;
        if (copy !== undefined && isEnough(copy, size)) {
          bounds.markUsed(key);
          const isFetched = policy === 'network-first' || lastSize >= 0;
          if (!isFetched) fetch.copy(key).catch(report);
          return copy;
        }
        // If a deleted session has a copy, it was created again.
        if (size <= lastSize || isDeleted) return copy;
        lastSize = size;
        try {
          await untilAborted(call.signal, fetch.require(key, Math.max(need, 2 * size)));
        } catch (error) {
          // Offline, the newest events are better than none.
          const isOffline = !isRefusal(error) && call.signal?.aborted !== true;
          if (copy !== undefined && isOffline) return copy;
          throw error;
        }
      }
    });
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    page: ListPageRequest,
    call: StorageCall,
  ): Promise<ReadList> {
    const { lists, follow } = this.#parts;
    const owner = { appName, userId };
    if (this.policyOf(call) !== 'cache-only') follow(owner);
    const list: Read<ReadList> = (store, call) =>
      store.list(appName, userId, descending, page, call);
    return this.#read(call, list, this.store, async (readCopies) => {
      await this.#receive(call, {
        fetch: () => lists.fetch(owner),
        isThere: () => lists.hasList(owner),
        // Without a connection, the copies are all there is.
        isFatal: isRefusal,
      });
      return readCopies();
    });
  }

  sharedState(owner: StateOwner, call: StorageCall): Promise<string> {
    const { lists, follow } = this.#parts;
    // The feed of a user tells of the app's state too. That of the app has the sessions of all users.
    if (owner.userId !== undefined && this.policyOf(call) !== 'cache-only') follow(owner);
    const read: Read<string> = (store, call) => store.sharedState(owner, call);
    return this.#read(call, read, this.store, async (readCopy) => {
      await this.#receive(call, {
        fetch: () => lists.fetchState(owner),
        isThere: () => lists.hasState(owner),
        isFatal: () => false,
      });
      return readCopy();
    });
  }

  /** Fetches a list or a state, and waits for it as the policy says. */
  async #receive(call: StorageCall, { fetch, isThere, isFatal }: Reception): Promise<void> {
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
   * @param work calls the given function to read the local storage
   */
  async #read<T>(
    call: StorageCall,
    read: Read<T>,
    local: SessionStore,
    work: (readLocal: () => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const { remote, report } = this.#parts;
    try {
      return await work(async () => read(local, call, true));
    } catch (error) {
      if (this.policyOf(call) === 'cache-only' || !isUnreadable(error)) throw error;
      report(error);
      const asked = remote.ask((store, own) => read(store, { ...call, ...own }, false));
      return untilAborted(call.signal, asked);
    }
  }

  /** Parses events that were read. A copy with a damaged event is fetched again. */
  readonly parse: typeof parseEvents = (texts, ...others) => {
    const { data, fetch, remote, report } = this.#parts;
    const { key, isCopy = true } = this.#sources.get(texts) ?? {};
    if (!isCopy) return remote.core.pages.parse(texts, ...others);
    try {
      return parseEvents(texts, ...others);
    } catch (error) {
      if (key !== undefined) {
        data
          .write(async (transaction) => {
            const record = await transaction.session(key);
            if (record?.copy === undefined) return;
            await transaction.putSession(key, {
              ...record,
              copy: { ...record.copy, isStale: true },
            });
          })
          .then(() => fetch.copy(key))
          .catch(report);
      }
      throw error;
    }
  };

  policyOf(call: StorageCall): ReadPolicy {
    return (call as { readonly [READS]?: ReadPolicy })[READS] ?? this.#parts.reads;
  }

  /** Waits for a fetch, but not for longer than a read may wait. Without a connection there is the copy. */
  async #inTime(fetched: Promise<unknown>, call: StorageCall): Promise<void> {
    const { readTimeoutMs, report } = this.#parts;
    const deadline = new Deadline(readTimeoutMs);
    try {
      await untilAborted(call.signal, deadline.until(fetched.catch(report)));
    } finally {
      deadline.clear();
    }
  }
}

/** The codes of a local storage whose records are damaged, or of another version. */
const UNREADABLE = ['corrupt_record', 'storage_newer', 'storage_failed', 'storage_unavailable'];

function isUnreadable(error: unknown): boolean {
  return isSessionError(error) && UNREADABLE.includes(error.code);
}
