import type { OnOpen } from '../wasm/core.js';
import { SessionError } from '../errors/errors.js';
import type { DataLoss, StorageInfo } from '../model/session_service.js';
import type { Feed } from '../watch/feed.js';
import { feedOfDatabase } from '../watch/shared_feeds.js';
import { isChromium, turnLogOver } from './log_turnover.js';
import { Marker } from './marker.js';
import type { Limits } from './reconcile.js';
import { mirrorDatabase } from './mirrored.js';

/** Refills a database that was lost. */
export type Refill = (loss: DataLoss) => Promise<void>;

/**
 * Runs whenever a database is opened: detects whether the database was lost, and has it refilled before any
 * call continues. There is one instance for each database name, shared by the services of this realm.
 */
export class Opening {
  readonly #name: string;
  readonly #feed: Feed;
  readonly #marker: Marker;
  /**
   * The `storage` objects of the services that use the database. Weak references, so that a service that
   * nobody closed can be collected.
   */
  readonly #storages = new Set<WeakRef<StorageInfo>>();
  /** Keyed weakly by `storage`: an `onDataLoss` may refer to its own service, and must not keep it alive. */
  readonly #refills = new WeakMap<StorageInfo, Refill>();
  /** The limits of the service that was opened last. */
  limits: Limits = { timeout: 0, blockedTimeout: 0 };
  /** The callbacks that have run: if one runs again, its connection was reopened. */
  readonly #wereOpen = new Set<OnOpen>();
  #loss: DataLoss | undefined;
  /** The loss after which the database must still be refilled, if the marker cannot store it. */
  #unfilled: DataLoss | undefined;
  #filling: Promise<void> | undefined;

  constructor(name: string) {
    this.#name = name;
    this.#feed = feedOfDatabase(name);
    this.#marker = new Marker(name);
  }

  /**
   * Registers a service that uses the database. Its `storage` gets the loss, if there was one.
   *
   * @returns a function that ends the registration
   */
  join(storage: StorageInfo, refill: Refill | undefined): () => void {
    const member = new WeakRef(storage);
    this.#storages.add(member);
    if (this.#loss !== undefined) storage.lost = this.#loss;
    if (refill !== undefined) this.#refills.set(storage, refill);
    return () => {
      this.#storages.delete(member);
      // The next service is new, so it has missed no changes.
      if (this.#liveStorages().length === 0) this.#wereOpen.clear();
    };
  }

  #liveStorages(): StorageInfo[] {
    const live: StorageInfo[] = [];
    for (const member of this.#storages) {
      const storage = member.deref();
      if (storage === undefined) this.#storages.delete(member);
      else live.push(storage);
    }
    return live;
  }

  /** Returns the refill of the first registered service that has one. */
  #firstRefill(): Refill | undefined {
    for (const storage of this.#liveStorages()) {
      const refill = this.#refills.get(storage);
      if (refill !== undefined) return refill;
    }
    return undefined;
  }

  /** Called with each new connection, before it is used. `message` is Chromium's message about a loss. */
  readonly onOpen: OnOpen = (database, isNew, message) =>
    this.#open(this.onOpen, database, isNew, message);

  /** Same as `onOpen`, for connections of services that want a mirror. */
  readonly onOpenWithMirror: OnOpen = (database, isNew, message) =>
    this.#open(this.onOpenWithMirror, database, isNew, message);

  /** Called with a connection that refills the database: it only connects the mirror. */
  readonly onOpenToFill: OnOpen = async (database) => {
    await this.#mirror(database, false);
  };

  #open(
    onOpen: OnOpen,
    database: IDBDatabase,
    isNew: boolean,
    message: unknown,
  ): Promise<void> | undefined {
    if (this.#wereOpen.has(onOpen)) this.#feed.resync();
    this.#wereOpen.add(onOpen);
    if (!isNew) turnLogOver(indexedDB);
    const isWanted = onOpen === this.onOpenWithMirror;
    if (isWanted || isNew || this.#firstRefill() !== undefined || isChromium()) {
      return this.#prepare(database, isWanted, isNew, message);
    }
    void this.#marker.set();
    return undefined;
  }

  /** Deletes the database by `remove`, so that its absence does not count as a loss. */
  async forget(remove: () => Promise<void>): Promise<void> {
    // Before the deletion: otherwise a crash in between would look like a loss.
    await this.#marker.remove();
    await remove();
    // And after it: another tab may have opened the database meanwhile.
    await this.#marker.remove();
    this.#loss = undefined;
    this.#unfilled = undefined;
    this.#feed.resync();
  }

  async #prepare(
    database: IDBDatabase,
    isWanted: boolean,
    isNew: boolean,
    message: unknown,
  ): Promise<void> {
    const mirrored = await this.#mirror(database, isWanted);
    if (mirrored === 'lost') await this.#look('the browser was killed while it was restored');
    else if (isNew && mirrored !== 'restored') {
      await this.#look(typeof message === 'string' ? message : '');
    }
    void this.#marker.set();
    await this.#refill();
  }

  #mirror(database: IDBDatabase, isWanted: boolean) {
    const wish = { ...this.limits, isWanted, mayStayBehind: true };
    return mirrorDatabase(this.#name, database, wish);
  }

  /** Detects and publishes the loss of a new database. Without a message, the marker decides. */
  async #look(message: string): Promise<void> {
    if (message === '' && !(await this.#marker.isSet())) return;
    const reason = message === '' ? 'it was there before and is not any more' : message;
    const loss: DataLoss = {
      when: Date.now(),
      message: `The browser gave up the database "${this.#name}" with everything in it: ${reason}.`,
    };
    this.#tell(loss);
    this.#unfilled = loss;
    // The marker keeps the loss, so that the next opening repeats an interrupted refill.
    const isToFill = this.#firstRefill() !== undefined;
    if (isToFill && (await this.#marker.setLoss(loss))) this.#unfilled = undefined;
    this.#feed.publish([{ type: 'lost', ...loss }]);
  }

  #tell(loss: DataLoss): void {
    this.#loss = loss;
    for (const storage of this.#liveStorages()) storage.lost = loss;
  }

  /**
   * Has the database refilled, if that is still to be done.
   *
   * The wait has a timeout, because an `onDataLoss` that calls another service than its own would wait for
   * itself. The refill continues after the timeout, and the next call waits for it again.
   */
  async #refill(): Promise<void> {
    const refill = this.#firstRefill();
    if (refill === undefined) return;
    this.#filling ??= this.#fill(refill).finally(() => (this.#filling = undefined));
    const { timeout } = this.limits;
    let timer;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(stillFilling(this.#name, timeout)), timeout);
    });
    try {
      await Promise.race([this.#filling, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Refills the database, in one tab at a time. */
  #fill(refill: Refill): Promise<void> {
    return exclusively(`adk-session-wasm:refill:${this.#name}`, async () => {
      const loss = this.#unfilled ?? (await this.#marker.loss());
      if (loss === undefined) return;
      this.#tell(loss);
      await refill(loss);
      this.#unfilled = undefined;
      await this.#marker.removeLoss();
    });
  }
}

function stillFilling(name: string, timeout: number): SessionError {
  return new SessionError(
    'connection_lost',
    `onDataLoss has not filled the database "${name}" within ${timeout} ms. It goes on; call again. Inside of onDataLoss, use only the service that it is given: all others wait for its end.`,
    { key: 'onDataLoss' },
  );
}

/** Runs in one tab at a time, if the browser has Web Locks. */
function exclusively(name: string, run: () => Promise<void>): Promise<void> {
  // Web Locks are missing on pages without TLS.
  const locks = navigator.locks as LockManager | undefined;
  return locks === undefined ? run() : locks.request(name, run);
}

const openings = new Map<string, Opening>();

/** Returns the {@link Opening} of the database with that name. */
export function openingOf(name: string): Opening {
  let opening = openings.get(name);
  if (opening === undefined) openings.set(name, (opening = new Opening(name)));
  return opening;
}
