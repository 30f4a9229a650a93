// A device: a local store that its tabs share. A tab has one service at a time, and may crash at each await of the store.

import { CachedSessionService, type LocalStore, type LocalTransaction, MemoryLocalStore } from '../../../js/service/cache/index.js'; // prettier-ignore
import { SessionError, type Session } from '../../../js/index.js';
import type { StoredSessionService } from '../../../js/service/stored_session_service.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import type { Fate } from './steps.js';
import type { Actor, World } from './world.js';

export const APP = 'shop';

/** The beginning of each secret that a server hides. */
export const SECRET = 'secret-';

export class Device {
  clockOffset = 0;
  isOffline = false;
  /** What becomes of the next requests. */
  readonly fates: Fate[] = [];
  /** Milliseconds that a transaction of the local store waits for its start. */
  localMs = 0;
  /** The number of writes that still find no room. */
  quotaFaults = 0;
  /** Whether copies may have been evicted. */
  isLossy: boolean;
  /** The owners that have used it. */
  readonly owners = new Set<string>();
  store!: LocalStore;

  constructor(
    readonly number: number,
    readonly world: World,
    readonly isBounded: boolean,
    /** Whether its services give titles, as the server does. */
    readonly hasTitles: boolean,
  ) {
    this.isLossy = isBounded;
    this.wipe();
  }

  /** The browser loses the local store. */
  wipe(): void {
    const memory = new MemoryLocalStore();
    this.store = {
      transaction: async (mode, work) => {
        const tab = this.world.actor as Tab;
        await this.world.pause(this.localMs);
        await tab.survive();
        // The crash of the tab undoes the transaction.
        const value = await memory.transaction(mode, (transaction) =>
          Promise.race([work(this.#faulty(transaction, tab)), tab.death]),
        );
        await tab.survive();
        return value;
      },
      close: () => undefined,
    };
  }

  #faulty(transaction: LocalTransaction, tab: Tab): LocalTransaction {
    return {
      get: (...place) => tab.survive().then(() => transaction.get(...place)),
      list: (...place) => tab.survive().then(() => transaction.list(...place)),
      keys: (...place) => tab.survive().then(() => transaction.keys(...place)),
      delete: (...place) => tab.survive().then(() => transaction.delete(...place)),
      put: async (...place) => {
        await tab.survive();
        const text = JSON.stringify(place);
        if (text.includes(SECRET)) this.world.fail(`a secret is stored on a device: ${text}`);
        if (this.quotaFaults === 0) return transaction.put(...place);
        this.quotaFaults -= 1;
        throw new SessionError('quota_exceeded', 'The local store is full.');
      },
    };
  }
}

/** An open session object of a tab. */
export interface Handle {
  readonly name: string;
  readonly session: Session;
  /** Whether it was read with all events. Offline, a read shows those of the copy. */
  readonly isWhole: boolean;
  /** Whether the server had no session when it was read: it shows only writes that need one. */
  readonly mayBeMissing: boolean;
}

/** A page. After a crash or a close, another `Tab` takes its place. */
export class Tab implements Actor {
  isDead = false;
  isClosed = false;
  frozenUntil = 0;
  /** The number of awaits of the local store until it crashes. */
  awaitsToCrash = Infinity;
  readonly handles: Handle[] = [];
  service!: StoredSessionService;
  /** The service. Absent if it is a client without a cache. */
  cache: CachedSessionService | undefined;
  #remote!: RemoteSessionService;
  #onDeath!: (error: Error) => void;
  /** Rejects when the tab crashes. */
  readonly death = new Promise<never>((_, reject) => (this.#onDeath = reject));

  constructor(
    readonly number: number,
    readonly device: Device,
    readonly owner: string,
    readonly isCached = true,
  ) {
    this.death.catch(() => undefined);
  }

  /** @param reads `'cache-only'`: it never sends a request */
  open(fetch: typeof globalThis.fetch, reads: 'cache-first' | 'cache-only'): void {
    const { number, device, owner } = this;
    this.#remote = new RemoteSessionService({
      url: 'http://server.test',
      fetch,
      getAccessToken: () => owner,
      retries: number % 2 === 0 ? 0 : 2,
      autoTitle: device.hasTitles,
    });
    this.service = this.#remote;
    if (!this.isCached) return;
    this.service = this.cache = new CachedSessionService({
      remote: this.#remote,
      local: device.store,
      owner,
      reads,
      autoTitle: device.hasTitles,
      write: this.isThrough ? 'through' : 'local',
      ...(device.isBounded && { maxSessions: 1 }),
    });
  }

  /** Whether a write waits for the remote. */
  get isThrough(): boolean {
    return this.number === 3 || !this.isCached;
  }

  get clockOffset(): number {
    return this.device.clockOffset;
  }

  crash(): void {
    this.isDead = true;
    this.#onDeath(new Error('the tab has crashed'));
  }

  /** Sends or receives. A client without a cache crashes there. */
  exchange(): void {
    if (!this.isCached && (this.awaitsToCrash -= 1) <= 0) this.crash();
  }

  /** An await of the local store, which never ends in a tab that crashes. */
  async survive(): Promise<void> {
    this.awaitsToCrash -= 1;
    if (this.awaitsToCrash <= 0) this.crash();
    if (this.isDead) await new Promise<never>(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.service.close();
    await this.#remote.close();
  }
}
