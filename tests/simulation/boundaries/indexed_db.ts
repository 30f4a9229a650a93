// IndexedDB in a page: faults at every request of the package to the browser.

import { IndexedDbSessionService, type SessionServiceOptions } from '../../../js/index.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/pace/real_pace.js';

const FAULTS = {
  /** The method throws. */
  throws: { fails: true },
  /** The transaction aborts after the request. */
  aborts: { fails: true },
  /** The connection closes: the transaction ends, and the next one cannot begin. */
  closes: { fails: true },
  /** Like `closes`, with a `close` event, as when the browser clears a site's data. */
  'closes by force': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];

export const indexedDbBoundary: Boundary = {
  name: 'indexeddb',
  rules: { hasExactTimes: true },
  // A request may take effect after its connection has closed and its call has failed.
  mayCommitLate: true,
  start: (seed) => new IndexedDbStorage(seed),
};

/** WebKit fires no event for some transactions of a closed connection. The service aborts them after this time. */
const TIMEOUT_MS = 5000;

/** The storages of running seeds, by the names of their databases. */
const running = new Map<string, IndexedDbStorage>();

class IndexedDbStorage implements SimulatedStorage {
  readonly notes: string[] = [];
  readonly pace = new RealPace();
  readonly faults: Faults<Fault>;
  readonly #name: string;
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed, 'indexed_db');
    this.#name = `simulation ${seed} ${Math.random()}`;
    const random = new Random(seed, 'faults');
    this.faults = new SharedFaults(random, FAULTS, (note) => this.notes.push(note));
    running.set(this.#name, this);
    hookRequests();
  }

  openClient(_number: number, options: SessionServiceOptions): Client {
    const durability = this.#random.isLikely(0.2) ? 'strict' : 'relaxed';
    const service = new IndexedDbSessionService({
      ...options,
      name: this.#name,
      durability,
      timeoutMs: TIMEOUT_MS,
    });
    // The page no longer uses the service; its transactions continue in the browser.
    return { service, crash: () => void this.pace.until(service.close()) };
  }

  openObserver() {
    return new IndexedDbSessionService({ name: this.#name });
  }

  async end(): Promise<void> {
    running.delete(this.#name);
    await IndexedDbSessionService.deleteDatabase(this.#name).catch(() => undefined);
  }

  /** Makes a request, possibly with a fault. */
  run(name: string, transaction: IDBTransaction | IDBDatabase, proceed: () => unknown): unknown {
    const fault = this.faults.at(0, name, ALL);
    const database = 'db' in transaction ? transaction.db : transaction;
    switch (fault) {
      case undefined:
        return proceed();
      case 'throws':
        throw new DOMException('The simulation throws.', 'UnknownError');
      case 'aborts': {
        const request = proceed();
        if ('db' in transaction) abort(transaction);
        return request;
      }
      case 'closes':
      case 'closes by force':
        database.close();
        if ('db' in transaction && fault === 'closes by force') abort(transaction);
        if (fault === 'closes by force')
          setTimeout(() => database.dispatchEvent(new Event('close')));
        return proceed();
    }
  }
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // The transaction is already committing.
  }
}

/** A request does not show its service, so each fault counts for every client. */
class SharedFaults extends Faults<Fault> {
  override countOf(): number {
    return super.countOf(0);
  }
}

type Method = (this: object, ...values: unknown[]) => unknown;

let isHooked = false;

/** Routes every request of a database through the storage of its seed. */
function hookRequests(): void {
  if (isHooked) return;
  isHooked = true;
  const requests = ['add', 'put', 'delete', 'clear', 'get', 'getKey', 'getAll', 'getAllKeys', 'count', 'openCursor', 'openKeyCursor']; // prettier-ignore
  hook(IDBObjectStore.prototype, requests, (store) => (store as IDBObjectStore).transaction);
  hook(IDBIndex.prototype, requests, (index) => (index as IDBIndex).objectStore.transaction);
  hook(IDBTransaction.prototype, ['commit'], (transaction) => transaction as IDBTransaction);
  hook(IDBDatabase.prototype, ['transaction'], (database) => database as IDBDatabase);
}

function hook(
  prototype: object,
  names: readonly string[],
  transactionOf: (target: object) => IDBTransaction | IDBDatabase,
): void {
  const methods = prototype as Record<string, Method | undefined>;
  for (const name of names) {
    const original = methods[name];
    if (original === undefined) continue;
    methods[name] = function (...values) {
      const transaction = transactionOf(this);
      const database = 'db' in transaction ? transaction.db : transaction;
      const storage = running.get(database.name);
      const proceed = () => original.apply(this, values);
      const isUpgrade = 'mode' in transaction && transaction.mode === 'versionchange';
      if (storage === undefined || isUpgrade) return proceed();
      return storage.run(`${prototype.constructor.name}.${name}`, transaction, proceed);
    };
  }
}
