import type { MaybePromise } from '../call/call.js';
import { Deadline } from '../call/deadline.js';
import { isSessionError } from '../errors/errors.js';
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
import type { Bounds } from './copies/bounds.js';
import type { Fetch } from './copies/fetch.js';
import type { Lists } from './copies/lists.js';
import type { LocalCopies } from './copies/local_copies.js';
import { isRefusal, type RemoteEnd } from './copies/remote_end.js';
import type { ReadPolicy } from './options.js';
import { isFirstBase } from './records/first_base.js';
import type { Records } from './records/records.js';
import { LISTED, nameOf } from './records/session_record.js';

/** The member of a request that holds its own policy. */
export const READS = Symbol('reads');

export interface ReadParts {
  readonly local: LocalCopies;
  readonly remote: RemoteEnd;
  readonly records: Records;
  readonly fetch: Fetch;
  readonly lists: Lists;
  readonly reads: ReadPolicy;
  readonly readTimeoutMs: number;
  readonly report: (error: unknown) => void;
  readonly bounds: Bounds;
}

/** Reads something of a session, or of a user or an app, from the local storage or from the remote. */
type Read<Key, T> = (store: SessionStore, key: Key, call: StorageCall) => MaybePromise<T>;

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
    return this.#readSession(key, need, call, async (store, stored, call) => {
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
    const { isForward, eventId, limit, withCount } = page;
    const isNewest = !isForward && eventId === undefined && !withCount;
    // Older pages: the whole session.
    const need = isNewest ? (limit ?? Infinity) : Infinity;
    return this.#readSession(key, need, call, async (store, stored, call) => {
      const read = await store.page(stored, page, call);
      if (read === undefined) return undefined;
      if (read[1] !== undefined) this.#sources.set(read[1], { key, isCopy: stored !== key });
      // The initial state of a fetched session is not known.
      if (isFirstBase(read[8])) read[8] = undefined;
      return read;
    });
  }

  /**
   * Reads a copy, and fetches it before if it is missing or too short.
   *
   * @param need the newest events that the read needs
   */
  #readSession<T extends readonly unknown[]>(
    key: CompositeSessionKey,
    need: number,
    call: StorageCall,
    read: Read<CompositeSessionKey, T | undefined>,
  ): Promise<T | undefined> {
    const { fetch, bounds, report } = this.#parts;
    const policy = this.policyOf(call);
    return this.#read(key, call, read, async (readCopy) => {
      if (policy === 'network-first') await this.#inTime(fetch.copy(key, need));
      const copy = await readCopy();
      if (policy === 'cache-only') return copy;
      if (copy !== undefined && (await this.#isEnough(key, copy[0] as number, need))) {
        bounds.noteUse(key);
        if (policy === 'cache-first') fetch.copy(key).catch(report);
        return copy;
      }
      // With a copy, somebody has created it again.
      if (await this.isDeleted(key)) return copy;
      try {
        await fetch.copy(key, need);
      } catch (error) {
        // Offline, the newest events are better than none.
        if (copy !== undefined && !isRefusal(error)) return copy;
        throw error;
      }
      return readCopy();
    });
  }

  async #isEnough(key: CompositeSessionKey, created: number, need: number): Promise<boolean> {
    const name = nameOf(key);
    if (this.#wholes.get(name) === created) return true;
    const { base, create } = await this.#parts.records.session(key);
    if (base?.copy !== created) return create?.value.copy === created;
    if (base.held !== undefined) return need <= base.held;
    this.#wholes.set(name, created);
    return true;
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
    const owner = { appName, userId };
    const list: Read<StateOwner, ReadList> = (store, { appName }, call) =>
      store.list(appName, userId, descending, page, call);
    return this.#read(owner, call, list, async (readCopies) => {
      await this.#receiveList(owner, this.policyOf(call));
      return readCopies();
    });
  }

  async #receiveList(owner: StateOwner, policy: ReadPolicy): Promise<void> {
    const { lists, records, report } = this.#parts;
    if (policy === 'network-first') {
      await this.#inTime(lists.fetch(owner));
    } else if (policy === 'cache-first') {
      const isFirst = (await records.read(owner))[LISTED] === undefined;
      const fetched = lists.fetch(owner).catch((error: unknown) => {
        // Without a connection, the copies are all there is.
        if (isFirst && isRefusal(error)) throw error;
        report(error);
      });
      if (isFirst) await fetched;
    }
  }

  sharedState(owner: StateOwner, call: StorageCall): Promise<string> {
    const read: Read<StateOwner, string> = (store, owner, call) => store.sharedState(owner, call);
    return this.#read(owner, call, read, async (readCopy) => {
      await this.#receiveState(owner, this.policyOf(call));
      return readCopy();
    });
  }

  async #receiveState(owner: StateOwner, policy: ReadPolicy): Promise<void> {
    const { lists, report } = this.#parts;
    if (policy === 'cache-only') return;
    const isFirst = !(await lists.hasState(owner));
    const fetched = lists.fetchState(owner);
    if (policy === 'network-first') await this.#inTime(fetched);
    else if (isFirst) await fetched.catch(report);
    else fetched.catch(report);
  }

  /**
   * Reads the local storage, or the remote if the local storage cannot be read. What is stored there stays as it is.
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
      return await work(() => local.call((store) => read(store, local.keyOf(key), call)));
    } catch (error) {
      if (this.policyOf(call) === 'cache-only' || !isUnreadable(error)) throw error;
      report(error);
      return remote.ask((store, own) => read(store, key, { ...call, ...own }));
    }
  }

  /** Parses what was read. A session with a damaged event is fetched again as a whole, with what is unsent behind. */
  readonly parse: typeof parseEvents = (texts, ...others) => {
    const { records, fetch, local, remote, report } = this.#parts;
    const { key, isCopy }: Partial<Source> = this.#sources.get(texts) ?? { isCopy: true };
    try {
      return (isCopy ? local : remote).parse(texts, ...others);
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
  async #inTime(fetched: Promise<void>): Promise<void> {
    const { readTimeoutMs, report } = this.#parts;
    const deadline = new Deadline(readTimeoutMs);
    await deadline.until(fetched.catch(report));
    deadline.clear();
  }
}

/** The codes of a local storage whose records are damaged, or of another version. */
const UNREADABLE = ['corrupt_record', 'storage_newer', 'storage_failed', 'storage_unavailable'];

function isUnreadable(error: unknown): boolean {
  return isSessionError(error) && UNREADABLE.includes(error.code);
}
