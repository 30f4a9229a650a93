import { backgroundTimer } from '../../../core/call/lifetime.js';
import { TabLock } from '../../../core/watch/tab_lock.js';
import { findLoss, PresenceFlag } from '../../indexed_db/loss.js';
import type { DataLoss } from '../../../values/model/storage_info.js';

/** What is noted of an owner's local data outside of IndexedDB. */
export interface OwnerNote {
  /** The client in the owner's record. */
  readonly client: string;
  /** The number of unsent events. */
  readonly events: number;
}

/** How long to wait for other tabs, in milliseconds. A tab that the browser has frozen keeps its lock. */
const LOCK_PATIENCE = 5000;

/** The least pause between two changes of the note, in milliseconds. */
const NOTE_PAUSE = 200;

/** Remembers outside of IndexedDB that an owner has local data there. */
export class OwnerFlag {
  readonly #flag: PresenceFlag;
  readonly #lock: TabLock;
  #newest: OwnerNote | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(owner: string) {
    const name = `cache:${owner}`;
    this.#flag = new PresenceFlag(name);
    this.#lock = new TabLock(`adk-session-wasm:${name}`);
  }

  /** Runs while no other tab sets the flag, deletes the data or stores lost data again. */
  exclusively<T>(run: () => Promise<T>): Promise<T> {
    return this.#lock.holdOrProceed(run, LOCK_PATIENCE);
  }

  /** Returns the note; `undefined` if the flag is not set. */
  async note(): Promise<OwnerNote | undefined> {
    const text = await this.#flag.note();
    // A crash right after the flag was set leaves no note.
    return text ? (JSON.parse(text) as OwnerNote) : undefined;
  }

  /** Sets the flag, and keeps the note of the same client. */
  async set(client: string): Promise<void> {
    const before = await this.note();
    await this.#flag.set();
    if (before?.client !== client) {
      await this.#flag.putNote(JSON.stringify({ client, events: 0 } satisfies OwnerNote));
    }
  }

  /** Changes the note soon. Of several changes the last one counts. */
  noteSoon(note: OwnerNote): void {
    this.#newest = note;
    this.#timer ??= backgroundTimer(() => void this.putNote(), NOTE_PAUSE);
  }

  /** Makes the change of the note that waits. */
  async putNote(): Promise<void> {
    const note = this.#newest;
    this.dropNote();
    if (note !== undefined) await this.#flag.putNote(JSON.stringify(note));
  }

  /** Drops the change of the note that waits. */
  dropNote(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#newest = undefined;
  }

  /** Returns the loss of the owner's data, which are not there; `undefined` if they were deleted or never stored. */
  findLoss(): Promise<DataLoss | undefined> {
    return findLoss(this.#flag, 'the local data of the cache');
  }

  /** Deletes the owner's data, so that their absence does not count as a loss. */
  whileDeleting<T>(deletion: () => Promise<T>): Promise<T> {
    return this.exclusively(() => this.#flag.whileDeleting(deletion));
  }
}
