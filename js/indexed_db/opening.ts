import type { OnOpen } from '../wasm/core.js';
import { SessionError } from '../errors/errors.js';
import type { DataLoss, StorageInfo } from '../model/session_service.js';
import type { Feed } from '../watch/feed.js';
import { feedOfDatabase } from '../watch/shared_feeds.js';
import { isChromium, turnLogOver } from './log_turnover.js';
import { Marker } from './marker.js';
import type { Limits } from './reconcile.js';
import { mirrorDatabase } from './mirrored.js';

/** Fills a database again that was lost. */
export type Refill = (loss: DataLoss) => Promise<void>;

/**
 * What has to be done whenever a database is opened: notice whether it was lost, and have it filled again
 * before any call goes on. One for each name, shared by the services of this realm.
 */
export class Opening {
  readonly #name: string;
  readonly #feed: Feed;
  readonly #marker: Marker;
  /** Those of the services that use the database. Weak, so that a service that nobody closed can be collected. */
  readonly #storages = new Set<WeakRef<StorageInfo>>();
  /** By `storage`: an `onDataLoss` may refer to its own service. */
  readonly #refills = new WeakMap<StorageInfo, Refill>();
  /** Of the service that came last. */
  limits: Limits = { timeout: 0, blockedTimeout: 0 };
  /** Those who have been called. */
  readonly #wereOpen = new Set<OnOpen>();
  #loss: DataLoss | undefined;
  /** The loss after which the database is still to be filled, where the marker cannot remember it. */
  #unfilled: DataLoss | undefined;
  #filling: Promise<void> | undefined;

  constructor(name: string) {
    this.#name = name;
    this.#feed = feedOfDatabase(name);
    this.#marker = new Marker(name);
  }

  /**
   * One more service uses the database; its `storage` is to say what was lost.
   *
   * @returns ends that
   */
  join(storage: StorageInfo, refill: Refill | undefined): () => void {
    const member = new WeakRef(storage);
    this.#storages.add(member);
    if (this.#loss !== undefined) storage.lost = this.#loss;
    if (refill !== undefined) this.#refills.set(storage, refill);
    return () => {
      this.#storages.delete(member);
      // Whoever comes next has missed nothing.
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

  /** That of the service that came first, of those that have one. */
  #firstRefill(): Refill | undefined {
    for (const storage of this.#liveStorages()) {
      const refill = this.#refills.get(storage);
      if (refill !== undefined) return refill;
    }
    return undefined;
  }

  /** Called with each new connection, before anybody may use it. `message` is Chromium's. */
  readonly onOpen: OnOpen = (database, isNew, message) =>
    this.#open(this.onOpen, database, isNew, message);

  /** The same for a connection of services that want a mirror. */
  readonly onOpenWithMirror: OnOpen = (database, isNew, message) =>
    this.#open(this.onOpenWithMirror, database, isNew, message);

  /** The same for one with which the database is filled again. */
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

  /** Deletes the database by `remove`, so that its absence is no loss. */
  async forget(remove: () => Promise<void>): Promise<void> {
    // Before: else a crash in between would look like a loss.
    await this.#marker.remove();
    await remove();
    // And after: another tab may have opened the database in the meantime.
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

  /** Finds out whether a database that is new had a predecessor. */
  async #look(message: string): Promise<void> {
    if (message === '' && !(await this.#marker.isSet())) return;
    const reason = message === '' ? 'it was there before and is not any more' : message;
    const loss: DataLoss = {
      when: Date.now(),
      message: `The browser gave up the database "${this.#name}" with everything in it: ${reason}.`,
    };
    this.#tell(loss);
    this.#unfilled = loss;
    // What a filling that is interrupted leaves to do is done at the next opening.
    const isToFill = this.#firstRefill() !== undefined;
    if (isToFill && (await this.#marker.setLoss(loss))) this.#unfilled = undefined;
    this.#feed.publish([{ type: 'lost', ...loss }]);
  }

  #tell(loss: DataLoss): void {
    this.#loss = loss;
    for (const storage of this.#liveStorages()) storage.lost = loss;
  }

  /**
   * Has the database filled again, if that is still to be done.
   *
   * The wait has a limit: an `onDataLoss` that calls another service than its own waits for itself. The filling goes on
   * after the limit, and the next call waits for it again.
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

  /** One tab at a time does it. */
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

/** Runs in one tab at a time, where tabs can agree on that. */
function exclusively(name: string, run: () => Promise<void>): Promise<void> {
  // Missing on pages without TLS.
  const locks = navigator.locks as LockManager | undefined;
  return locks === undefined ? run() : locks.request(name, run);
}

const openings = new Map<string, Opening>();

/** The one of the database of that name. */
export function openingOf(name: string): Opening {
  let opening = openings.get(name);
  if (opening === undefined) openings.set(name, (opening = new Opening(name)));
  return opening;
}
