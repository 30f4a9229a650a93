import type { HostAbortSignal } from '../../model/host.js';
import type { StateOwner } from '../../storage/scopes.js';
import { type CacheKey, nameOf } from './cache_key.js';
import { erasedError } from './failures.js';
import type { Cleared, Refusal } from './session_record.js';

/** Changes of one session or shared state that the remote does not have. */
export interface LocalChanges {
  readonly key: CacheKey;
  /** The shared keys that they write. */
  readonly keys: ReadonlySet<string>;
  /** What they delete of a user or an app. */
  readonly clears?: readonly Cleared[];
  /** Why they were set aside. Absent if they can be sent. */
  readonly refusal?: Refusal | undefined;
}

/** The local changes that were unsent at some time during a request. Its answer must not overwrite them. */
export interface PinnedChanges {
  /** The unsent shared keys of the owner. */
  readonly keys: ReadonlySet<string>;
  /** The names of sessions that were deleted meanwhile: what the remote said about them is out of date. */
  readonly deleted: ReadonlySet<string>;
  /** The names of users whose deletion was unsent meanwhile. */
  readonly deletedUsers: ReadonlySet<string>;
  /** The unsent deletions of the owner's states. */
  readonly clears: ReadonlySet<Cleared>;
  /** Fires if the local data is erased meanwhile. */
  readonly erasure: HostAbortSignal;
  /** Ends the collection. */
  stop(): void;
}

interface Collector extends PinnedChanges {
  readonly owner: StateOwner;
  readonly except: string | undefined;
  readonly keys: Set<string>;
  readonly deleted: Set<string>;
  readonly deletedUsers: Set<string>;
  readonly clears: Set<Cleared>;
}

/** Collects what is unsent while the remote is asked. */
export class Pins {
  readonly #unsent: ReadonlyMap<string, LocalChanges>;
  readonly #writes = new Map<LocalChanges, Promise<unknown>>();
  readonly #collectors = new Set<Collector>();
  #erasure = new AbortController();

  /** @param unsent the unsent changes, by name. `Unsent` calls {@link add} after each change. */
  constructor(unsent: ReadonlyMap<string, LocalChanges>) {
    this.#unsent = unsent;
  }

  /**
   * Runs a local write. Until it settles, the shared keys that it writes count as unsent.
   *
   * @param write passes the keys to the function that it gets, before it writes them
   * @throws SessionError `aborted` if the local data was erased meanwhile
   */
  async write<T>(
    key: CacheKey,
    write: (pin: (keys: Iterable<string>) => void) => Promise<T>,
  ): Promise<T> {
    const { erasure } = this;
    const keys = new Set<string>();
    const changes = { key, keys };
    const done = write((written) => {
      for (const sharedKey of written) keys.add(sharedKey);
      this.add(changes);
    });
    this.#writes.set(changes, done);
    try {
      const result = await done;
      if (erasure.aborted) throw erasedError();
      return result;
    } finally {
      this.#writes.delete(changes);
    }
  }

  /** Whether a local write of a session is under way. */
  isWriting(name: string): boolean {
    return [...this.#writes.keys()].some(({ key }) => nameOf(key) === name);
  }

  /** Waits for the local writes that are under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
  }

  /**
   * Collects the unsent changes of an owner, from now until `stop`.
   *
   * @param except the session whose own changes do not count
   */
  collect(owner: StateOwner, except?: CacheKey): PinnedChanges {
    const collector: Collector = {
      owner,
      except: except && nameOf(except),
      keys: new Set(),
      deleted: new Set(),
      deletedUsers: new Set(),
      clears: new Set(),
      erasure: this.erasure,
      stop: () => void this.#collectors.delete(collector),
    };
    for (const changes of [...this.#unsent.values(), ...this.#writes.keys()]) {
      collect(collector, changes);
    }
    this.#collectors.add(collector);
    return collector;
  }

  /** Adds changes to what is being collected. */
  add(changes: LocalChanges): void {
    for (const collector of this.#collectors) collect(collector, changes);
  }

  /** Fires when the local data is erased. */
  get erasure(): HostAbortSignal {
    return this.#erasure.signal;
  }

  /** Ends the requests that are under way: their answers would be stored after the local data was erased. */
  markErased(): void {
    this.#erasure.abort();
    this.#erasure = new AbortController();
  }

  /** Marks a session as deleted, locally or on the remote. */
  markDeleted(key: CacheKey): void {
    for (const { deleted } of this.#collectors) deleted.add(nameOf(key));
  }
}

function collect(
  { owner, except, keys, deletedUsers, clears }: Collector,
  { key, keys: written, clears: deletions = [], refusal }: LocalChanges,
): void {
  const name = nameOf(key);
  if (name === except || key.appName !== owner.appName) return;
  const isSameUser = key.userId === owner.userId;
  for (const deletion of refusal === undefined ? deletions : []) {
    if (deletion === 'user') deletedUsers.add(name);
    if (isSameUser || deletion === 'appState') clears.add(deletion);
  }
  for (const shared of written) if (isSameUser || shared.startsWith('app:')) keys.add(shared);
}
