import { callWasmStorage, createIndexedDbStorage, type OnOpen } from '../../core/wasm/all.js';
import type { Feed } from '../../core/watch/feed.js';
import { feedOfDatabase } from '../../core/watch/shared_feeds.js';
import { TabLock } from '../../core/watch/tab_lock.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import type { DataLoss, StorageInfo } from '../../values/model/storage_info.js';
import type { ChangeNote, CreationNote } from './layout.js';
import { turnLogOver } from './log_turnover.js';
import { findLoss, PresenceFlag } from './loss.js';
import { suspendOnPageHide, whileShown } from './page_hide.js';
import { withTransactions } from './worker_freeze.js';

/** Refills a database that was lost. */
export type Refill = (loss: DataLoss) => Promise<void>;

/**
 * Runs whenever a database is opened: detects whether the database was lost, and has it refilled before any
 * call continues. There is one instance for each database name, shared by the services of this realm.
 */
export class Opening {
  readonly #name: string;
  readonly #feed: Feed;
  readonly #flag: PresenceFlag;
  /**
   * The `storage` objects of the services that use the database. Weak references, so that a service that
   * nobody closed can be collected.
   */
  readonly #storages = new Set<WeakRef<StorageInfo>>();
  /** Keyed weakly by `storage`: an `onDataLoss` may refer to its own service, and must not keep it alive. */
  readonly #refills = new WeakMap<StorageInfo, Refill>();
  /** Timeout of a request, in milliseconds: that of the service that was opened last. */
  timeout = 0;
  /** Whether a connection was open before: the next one is then reopened. */
  #wasOpen = false;
  #loss: DataLoss | undefined;
  #looking: Promise<boolean> | undefined;
  #filling: Promise<void> | undefined;

  constructor(name: string) {
    this.#name = name;
    this.#feed = feedOfDatabase(name);
    this.#flag = new PresenceFlag(`database:${name}`);
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
      if (this.#liveStorages().length === 0) this.#wasOpen = false;
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

  /** Called with each new connection, before it is used. */
  readonly onOpen: OnOpen = async () => {
    const isReopened = this.#wasOpen;
    if (isReopened) this.#feed.deliver([{ type: 'resync' }]);
    // A page that was left during an opening opens again while the first look is under way. Only the first look
    // knows that it has stored the loss.
    const looked = (this.#looking ??= this.#lookForLoss().finally(() => {
      this.#looking = undefined;
    }));
    if (isReopened && this.#firstRefill() === undefined) {
      // Nothing is to be filled, so calls need not wait for the note: another tab may keep its store busy. If
      // this fails, the next opening looks again.
      void looked.catch(() => undefined);
    } else if (await looked) {
      await this.#refill();
    }
    this.#wasOpen = true;
  };

  /** Deletes the database by `remove`, so that its absence does not count as a loss. */
  async forget(remove: () => Promise<void>): Promise<void> {
    await this.#flag.whileDeleting(remove);
    this.#loss = undefined;
    // Also to other tabs: their watchers must not take notices of the next database for old ones.
    this.#feed.publish([{ type: 'resync' }]);
  }

  /**
   * Reads the note of the database, and changes it, over a connection of its own: the shared one is not open yet.
   * Repeats that if the page was left during the commit.
   */
  #note(change?: ChangeNote): Promise<CreationNote | undefined> {
    const access = { name: this.#name, isStrict: true, timeoutMs: this.timeout };
    return whileShown(async () => {
      const core = createIndexedDbStorage(access, undefined);
      const stopFollowing = suspendOnPageHide(core);
      try {
        const read = (): Promise<CreationNote | undefined> =>
          core.creation_note(change) as Promise<CreationNote | undefined>;
        return await withTransactions(this.#name, () => callWasmStorage(false, read));
      } catch (error) {
        // `storage_unavailable` would make `'auto'` use memory although the database exists.
        if (!isSessionError(error, 'storage_unavailable')) throw error;
        throw new SessionError('connection_lost', error.message, { cause: error });
      } finally {
        stopFollowing();
        core.free();
      }
    });
  }

  /**
   * Stores the loss in the note, or deletes the note if there was none. Does nothing if another tab was first.
   *
   * @returns whether this call stored the loss
   */
  async #settle(loss: DataLoss | undefined): Promise<boolean> {
    let isOurs = false;
    let put: DataLoss | undefined;
    await this.#note((note) => {
      // If the page was left during the commit, this runs again and may find what it has put itself.
      isOurs = note?.loss !== undefined && note.loss.when === put?.when;
      if (note === undefined || note.loss !== undefined) return undefined;
      if (loss === undefined) return null;
      [isOurs, put] = [true, loss];
      return { ...note, loss };
    });
    return isOurs;
  }

  /**
   * Finds out whether a new database follows one that was lost, and publishes a loss.
   *
   * @returns whether a lost database may have to be filled again
   */
  async #lookForLoss(): Promise<boolean> {
    const note = await this.#note();
    const isNew = note !== undefined && note.loss === undefined;
    if (isNew) {
      const stored = `the database "${this.#name}"`;
      const loss = await findLoss(this.#flag, stored, note.message);
      // Only the tab that was first publishes the loss.
      if (await this.#settle(loss)) this.#publish(loss!);
    } else {
      turnLogOver();
    }
    void this.#flag.set();
    return note !== undefined;
  }

  #publish(loss: DataLoss): void {
    this.#tell(loss);
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
    const { timeout } = this;
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

  /** Refills the database, in one tab at a time. If that fails, the next opening repeats it. */
  #fill(refill: Refill): Promise<void> {
    // In WebKit a page that is left loses its locks, and their requests reject. Then it fills once more.
    return whileShown(() =>
      new TabLock(`adk-session-wasm:refill:${this.#name}`).holdOrProceed(async () => {
        const loss = (await this.#note())?.loss;
        if (loss === undefined) return;
        this.#tell(loss);
        await refill(loss);
        await this.#note(() => null);
      }),
    );
  }
}

function stillFilling(name: string, timeout: number): SessionError {
  return new SessionError(
    'connection_lost',
    `onDataLoss has not filled the database "${name}" within ${timeout} ms. It continues; call again. Inside of onDataLoss, use only the service that it is given: all others wait for its end.`,
    { key: 'onDataLoss' },
  );
}

const openings = new Map<string, Opening>();

/** Returns the {@link Opening} of the database with that name. */
export function openingOf(name: string): Opening {
  let opening = openings.get(name);
  if (opening === undefined) openings.set(name, (opening = new Opening(name)));
  return opening;
}
