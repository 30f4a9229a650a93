import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { StateOwner } from '../../../core/storage/scopes.js';
import { nameOf } from '../records/cache_key.js';
import { type LossRecord, type OwnerRecord, VERSION } from '../records/records.js';
import { eventsOf, type Mutation } from '../outbox/mutation.js';

/** The most marks of deleted sessions. */
const MOST_MARKS = 64;

/** What the record of an owner begins with. */
export interface FirstOwnerValues {
  readonly client: string;
  /** Where the numbers begin. Handles of data that were forgotten must not match. */
  readonly counter: number;
}

/** The record of an owner, as a transaction has found and changed it. */
export class OwnerChanges {
  readonly #before: OwnerRecord | undefined;
  readonly #first: OwnerRecord;
  #owner: OwnerRecord;

  /** @param first what the record begins with, if there is none */
  constructor(before: OwnerRecord | undefined, first: FirstOwnerValues) {
    const empty = { version: VERSION, sharedOutboxVersion: 0, lists: [], deleted: {} };
    this.#before = before;
    this.#first = before ?? { ...empty, ...first };
    // An earlier build that opens the data later must not take these records for its own.
    this.#owner =
      this.#first.version < VERSION ? { ...this.#first, version: VERSION } : this.#first;
  }

  get owner(): OwnerRecord {
    return this.#owner;
  }

  /** The client that was recorded when the transaction began; `''` if there was none. */
  get client(): string {
    return this.#before?.client ?? '';
  }

  /** The last number that was drawn. */
  get counter(): number {
    return this.#owner.counter;
  }

  /** Draws a number. */
  nextNumber(): number {
    const counter = this.#owner.counter + 1;
    this.#owner = { ...this.#owner, counter };
    return counter;
  }

  /** Makes sure that later numbers are higher. */
  drawUpTo(number: number): void {
    if (number > this.#owner.counter) this.#owner = { ...this.#owner, counter: number };
  }

  get isOwnerChanged(): boolean {
    return this.#owner !== this.#first;
  }

  setLeader(leader: OwnerRecord['leader']): void {
    this.#owner = { ...this.#owner, leader };
  }

  setLoss(loss: LossRecord): void {
    this.#owner = { ...this.#owner, loss };
  }

  /** Records that mutations which were lost are stored again. */
  noteRestored(mutations: readonly Mutation[]): void {
    const { loss } = this.#owner;
    if (loss === undefined) return;
    const ids = new Set(mutations.flatMap(eventsOf).map(({ id }) => id));
    const restored = [...loss.restored, ...mutations.map(({ number }) => number)];
    this.setLoss({ ...loss, restored, events: Math.max(0, loss.events - ids.size) });
  }

  acknowledgeLoss(): void {
    const { loss } = this.#owner;
    if (loss !== undefined) this.setLoss({ ...loss, isAcknowledged: true });
  }

  /** Records that the deletion of a session was confirmed. */
  markDeleted(key: CompositeSessionKey): void {
    const name = nameOf(key);
    const others = Object.entries(this.#owner.deleted).filter(([other]) => other !== name);
    const marks = [...others, [name, this.nextNumber()] as const];
    this.#owner = { ...this.#owner, deleted: Object.fromEntries(marks.slice(-MOST_MARKS)) };
  }

  /** Records that a list was fetched. */
  noteList(owner: StateOwner): void {
    if (this.hasList(owner)) return;
    this.#owner = { ...this.#owner, lists: [...this.#owner.lists, nameOf(owner)] };
  }

  hasList(owner: StateOwner): boolean {
    return this.#owner.lists.includes(nameOf(owner));
  }

  deletedAt(key: CompositeSessionKey): number {
    return this.#owner.deleted[nameOf(key)] ?? 0;
  }

  /** Records that the writes of unsent mutations to shared states have changed. */
  renewSharedOutboxVersion(): void {
    // The record is copied after the draw, which changes it.
    const sharedOutboxVersion = this.nextNumber();
    this.#owner = { ...this.#owner, sharedOutboxVersion };
  }
}
