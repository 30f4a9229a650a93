import type { MaybePromise } from '../call/call.js';
import { Deadline } from '../call/deadline.js';
import { isSessionError } from '../errors/errors.js';
import { untilAborted } from '../call/time_limit.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { parseEvents } from '../read/stored_events.js';
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
import type { ListParts, Lists } from './copies/lists.js';
import type { ReadPolicy } from './options.js';
import { nameOf } from './records/cache_key.js';
import { isRefusal } from './records/failures.js';
import { isFirstBase, LISTED } from './records/session_record.js';

/** The member of a request that holds its own policy. */
export const READS = Symbol('reads');

/** The most copies that are remembered as whole. */
const MOST_WHOLES = 1000;

export interface ReadParts extends ListParts {
  readonly lists: Lists;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
}

/** Reads something of a session, or of a user or an app, from the local storage or from the remote. */
type Read<Key, T> = (store: SessionStore, key: Key, call: StorageCall) => MaybePromise<T>;

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

interface Source {
  readonly key: CompositeSessionKey;
  /** Otherwise they are the remote's. */
  readonly isCopy: boolean;
}

/** Reads the copies, and brings them up to the remote as the policy of a read says. */
export class CopyReads {
  readonly #parts: ReadParts;
  /** The local revision that created each copy that is known to have all events. */
  readonly #wholes = new Map<string, number>();
  /** Where texts of events were read. */
  readonly #sources = new WeakMap<object, Source>();

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    call: StorageCall,
  ): Promise<ReadSession | undefined> {
    const need = after === undefined ? (last ?? Infinity) : Infinity;
    const isEnough = (_: ReadSession, size: number): boolean => need <= size;
    return this.#readSession(key, { need, isEnough }, call, async (store, stored, call) => {
      const read = await store.get(stored, last, after, call);
      if (read !== undefined) this.#sources.set(read[4], { key, isCopy: stored !== key });
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
    return this.#readSession(key, { need, isEnough }, call, async (store, stored, call) => {
      const read = await store.page(stored, page, call);
      if (read === undefined) return undefined;
      if (read[1] !== undefined) this.#sources.set(read[1], { key, isCopy: stored !== key });
      // The initial state of a fetched session is not known.
      if (isFirstBase(read[8])) read[8] = undefined;
      return read;
    });
  }

  /** Reads a copy, and fetches it before if it is missing or too short. */
  #readSession<T extends readonly unknown[]>(
    key: CompositeSessionKey,
    { need, isEnough }: EventNeed<T>,
    call: StorageCall,
    read: Read<CompositeSessionKey, T | undefined>,
  ): Promise<T | undefined> {
    const { fetch, bounds, report } = this.#parts;
    const policy = this.policyOf(call);
    return this.#read(key, call, read, async (readCopy) => {
      if (policy === 'network-first') await this.#inTime(fetch.copy(key, need), call);
      for (let lastSize = -1; ;) {
        const copy = await readCopy();
        if (policy === 'cache-only') return copy;
        const size = copy === undefined ? 0 : await this.#sizeOf(key, copy[0] as number);
        if (copy !== undefined && isEnough(copy, size)) {
          bounds.markUsed(key);
          const isFetched = policy === 'network-first' || lastSize >= 0;
          if (!isFetched) fetch.copy(key).catch(report);
          return copy;
        }
        // If a deleted session has a copy, it was created again.
        if (size <= lastSize || (await this.isDeleted(key))) return copy;
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

  /** Returns how many of the newest events a copy has at least; `Infinity`: all. */
  async #sizeOf(key: CompositeSessionKey, created: number): Promise<number> {
    const name = nameOf(key);
    if (this.#wholes.get(name) === created) return Infinity;
    const { base, create } = await this.#parts.records.session(key);
    if (base?.copy !== created) return create?.value.copy === created ? Infinity : 0;
    if (base.windowSize !== undefined) return base.windowSize;
    if (this.#wholes.size >= MOST_WHOLES) this.#wholes.clear();
    this.#wholes.set(name, created);
    return Infinity;
  }

  /** Whether a deletion waits. */
  async isDeleted(key: CompositeSessionKey): Promise<boolean> {
    return (await this.#parts.records.session(key)).delete !== undefined;
  }

  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    page: ListPageRequest,
    call: StorageCall,
  ): Promise<ReadList> {
    const { lists, records } = this.#parts;
    const owner = { appName, userId };
    const list: Read<StateOwner, ReadList> = (store, { appName }, call) =>
      store.list(appName, userId, descending, page, call);
    return this.#read(owner, call, list, async (readCopies) => {
      await this.#receive(call, {
        fetch: () => lists.fetch(owner),
        isThere: async () => (await records.read(owner))[LISTED] !== undefined,
        // Without a connection, the copies are all there is.
        isFatal: isRefusal,
      });
      return readCopies();
    });
  }

  sharedState(owner: StateOwner, call: StorageCall): Promise<string> {
    const { lists } = this.#parts;
    const read: Read<StateOwner, string> = (store, owner, call) => store.sharedState(owner, call);
    return this.#read(owner, call, read, async (readCopy) => {
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
  async #read<Key extends StateOwner, T>(
    key: Key,
    call: StorageCall,
    read: Read<Key, T>,
    work: (readLocal: () => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const { local, remote, report } = this.#parts;
    try {
      return await work(() => local.at(key, (store, localKey) => read(store, localKey, call)));
    } catch (error) {
      if (this.policyOf(call) === 'cache-only' || !isUnreadable(error)) throw error;
      report(error);
      const asked = remote.ask((store, own) => read(store, key, { ...call, ...own }));
      return untilAborted(call.signal, asked);
    }
  }

  /** Parses events that were read. A session with a damaged event is fetched again, with the unsent events behind. */
  readonly parse: typeof parseEvents = (texts, ...others) => {
    const { records, fetch, local, remote, report } = this.#parts;
    const { key, isCopy }: Partial<Source> = this.#sources.get(texts) ?? { isCopy: true };
    try {
      return (isCopy ? local : remote).core.pages.parse(texts, ...others);
    } catch (error) {
      if (isCopy && key !== undefined) {
        records
          .markStale(key)
          .then(() => fetch.copy(key))
          .catch(report);
      }
      throw error;
    }
  };

  /** Called when the local data is gone. */
  forgetCopies(): void {
    this.#wholes.clear();
  }

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
