import { BUCKET, bucketsOf } from './buckets.js';
import { turnLogOver } from '../log_turnover.js';
import {
  type Change,
  type Current,
  listsAllSince,
  type Mark,
  rangeOf,
  type TouchedKeys,
} from './mirror_position.js';
import { completion, connectionOf, resultOf } from '../requests.js';

const RECORDS = 'records';
const CURRENT = 'current';

/** Records of one store with their keys. */
export interface Batch {
  readonly store: string;
  readonly keys: readonly IDBValidKey[];
  readonly records: readonly unknown[];
}

/**
 * The factory of each open connection. Chromium keeps the factory of a bucket only for pending requests. When
 * it collects the factory, it ends the connections without any event: requests then get no answer.
 */
const factories = new WeakMap<IDBDatabase, IDBFactory>();

/**
 * The database of the mirror, in a Storage Bucket. It has one store. The key of a record is
 * `[set, store, key]`, so that a new copy can be written beside the current one. The record `'current'` names
 * the current set.
 */
export class MirrorDatabase {
  readonly #raw: IDBDatabase;
  /** Timeout of a request or transaction, in milliseconds. */
  readonly #timeout: number;
  isClosed = false;

  private constructor(raw: IDBDatabase, timeout: number) {
    this.#raw = raw;
    this.#timeout = timeout;
    raw.onversionchange = () => this.close();
    raw.onclose = () => this.close();
  }

  static async open(name: string, timeout: number): Promise<MirrorDatabase> {
    const factory = await factoryOf();
    let isNew = false;
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => {
      isNew = true;
      request.result.createObjectStore(RECORDS);
    };
    const raw = await connectionOf(request, timeout);
    factories.set(raw, factory);
    if (!isNew) turnLogOver(factory);
    return new MirrorDatabase(raw, timeout);
  }

  static async delete(name: string, timeout: number): Promise<void> {
    await resultOf((await factoryOf()).deleteDatabase(name), timeout);
  }

  close(): void {
    this.isClosed = true;
    this.#raw.close();
  }

  current(): Promise<Current | undefined> {
    const request = this.#records().get(CURRENT);
    return resultOf(request as IDBRequest<Current | undefined>, this.#timeout);
  }

  /**
   * Repeats the transaction `seq`, if the mirror has all transactions before it. Without changes it only
   * checks whether the mirror has it.
   *
   * @returns whether the mirror now has it
   */
  async append(
    epoch: string,
    seq: number,
    changes: readonly Change[],
    durability: IDBTransactionDurability,
  ): Promise<boolean> {
    let isHere = false;
    await this.#write(durability, (store, current) => {
      if (current?.epoch !== epoch) return;
      isHere = current.seq >= seq;
      if (isHere || changes.length === 0 || current.seq !== seq - 1) return;
      isHere = true;
      for (const change of changes) apply(store, current.set, change);
      store.put({ ...current, seq }, CURRENT);
    });
    return isHere;
  }

  /**
   * Applies the current records of all keys that the mark lists, and sets the position to the mark's. Makes
   * `copy`, if it is given, the current copy. Deletes all other copies.
   *
   * @returns whether the mirror has reached the mark; `false` if the mark does not list all that is missing
   */
  async settle(mark: Mark, changes: readonly Change[], copy?: Current): Promise<boolean> {
    let isReached = false;
    await this.#write('strict', (store, current) => {
      // Another tab may have come this far meanwhile. Its marks do not list what the mirror already has, so
      // only the position that is read here tells what is missing.
      const isThere = current?.epoch === mark.epoch && current.seq >= mark.seq;
      const base = isThere ? current : (copy ?? current);
      if (base?.epoch !== mark.epoch) return;
      if (!isThere) {
        if (!listsAllSince(mark, base.seq)) return;
        for (const change of changes) apply(store, base.set, change);
        store.put({ ...base, seq: mark.seq }, CURRENT);
      }
      for (const range of otherCopies(base.set)) store.delete(range);
      isReached = true;
    });
    return isReached;
  }

  /** Returns whether there is a part of another copy, which an attempt to copy the database left. */
  async hasOtherCopies(set: string): Promise<boolean> {
    const store = this.#records();
    const keys = otherCopies(set).map((range) => resultOf(store.getKey(range), this.#timeout));
    return (await Promise.all(keys)).some((key) => key !== undefined);
  }

  /** Gives the mirror a new epoch, so that no transaction of the earlier epoch is added to it. */
  async renew(epoch: string): Promise<Current> {
    let renewed: Current | undefined;
    await this.#write('strict', (store, current) => {
      if (current !== undefined) store.put((renewed = { ...current, epoch }), CURRENT);
    });
    if (renewed === undefined) throw new DOMException('the mirror is empty', 'DataError');
    return renewed;
  }

  async add(set: string, { store: name, keys, records }: Batch): Promise<void> {
    const transaction = this.#raw.transaction(RECORDS, 'readwrite');
    const store = transaction.objectStore(RECORDS);
    for (const [index, key] of keys.entries()) store.put(records[index], [set, name, key]);
    await completion(transaction, this.#timeout);
  }

  /** Reads at most `count` records of a store, after the key `after`. */
  async read(set: string, store: string, after: IDBValidKey | undefined, count: number) {
    // This upper bound is above all keys: they are arrays of names and numbers, and an array sorts after
    // both.
    const last = [set, store, [[]]];
    const range =
      after === undefined
        ? IDBKeyRange.bound([set, store], last)
        : IDBKeyRange.bound([set, store, after], last, true);
    const records = this.#records();
    const [keys, values] = await Promise.all([
      resultOf(records.getAllKeys(range, count), this.#timeout),
      resultOf(records.getAll(range, count) as IDBRequest<unknown[]>, this.#timeout),
    ]);
    return { store, keys: keys.map((key) => (key as IDBValidKey[])[2]!), records: values };
  }

  /** Returns the store in a transaction that reads. */
  #records(): IDBObjectStore {
    return this.#raw.transaction(RECORDS).objectStore(RECORDS);
  }

  async #write(
    durability: IDBTransactionDurability,
    write: (store: IDBObjectStore, current: Current | undefined) => void,
  ): Promise<void> {
    const transaction = this.#raw.transaction(RECORDS, 'readwrite', { durability });
    const store = transaction.objectStore(RECORDS);
    const request = store.get(CURRENT) as IDBRequest<Current | undefined>;
    request.onsuccess = () => {
      write(store, request.result);
      transaction.commit();
    };
    await completion(transaction, this.#timeout);
  }
}

/** Returns the ranges of all copies but one. */
function otherCopies(set: string): IDBKeyRange[] {
  return [IDBKeyRange.bound([], [set], false, true), IDBKeyRange.bound([set, []], [[]])];
}

function apply(store: IDBObjectStore, set: string, { touched, record }: Change): void {
  const [name, first] = touched;
  if (record !== undefined) store.put(record, [set, name, first]);
  else store.delete(rangeOf(within(set, touched)));
}

/** Returns the mirror's keys for keys of the database. */
function within(set: string, [name, first, last]: TouchedKeys): TouchedKeys {
  const keyOf = (key: IDBValidKey): IDBValidKey => [set, name, key];
  return last === undefined ? [name, keyOf(first)] : [name, keyOf(first), keyOf(last)];
}

async function factoryOf(): Promise<IDBFactory> {
  const buckets = bucketsOf();
  if (buckets === undefined) throw new DOMException('there are no buckets', 'NotSupportedError');
  return (await buckets.open(BUCKET)).indexedDB;
}
