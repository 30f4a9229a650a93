// IndexedDB in a page: faults at every request that the package makes of the engine.

import { IndexedDbSessionService, type SessionServiceOptions } from '../../../js/index.js';
import type { Boundary, Client, Simulated } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Random } from '../run/random.js';
import { RealPace } from '../run/real_pace.js';

const FAULTS = {
  /** The method throws. */
  throws: { fails: true },
  /** The transaction aborts after the request was made. */
  aborts: { fails: true },
  /** The connection closes: the transaction ends, and the next one cannot begin. */
  closes: { fails: true },
  /** As `closes`, and the engine says so, as when it clears a site's data. */
  'closes by force': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];

export const indexedDbBoundary: Boundary = {
  name: 'indexeddb',
  rules: { hasExactTimes: true },
  // What was on its way when its connection closed may land after the caller was told.
  landsLate: true,
  start: (seed) => new IndexedDbStorage(seed),
};

/** WebKit tells nothing of some transactions whose connection has closed: the service gives them up after this time. */
const TIMEOUT_MS = 5000;

/** Storages of seeds that run at this moment, by the name of their database. */
const running = new Map<string, IndexedDbStorage>();

class IndexedDbStorage implements Simulated {
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
    // Nobody listens any more; what it has begun goes on in the engine.
    return { service, crash: () => void this.pace.until(service.close()) };
  }

  openObserver() {
    return new IndexedDbSessionService({ name: this.#name });
  }

  async end(): Promise<void> {
    running.delete(this.#name);
    await IndexedDbSessionService.deleteDatabase(this.#name).catch(() => undefined);
  }

  /** Makes a request, or has it fail. */
  run(request: string, transaction: IDBTransaction | IDBDatabase, proceed: () => unknown): unknown {
    const fault = this.faults.at(0, request, ALL);
    const database = 'db' in transaction ? transaction.db : transaction;
    switch (fault) {
      case undefined:
        return proceed();
      case 'throws':
        throw new DOMException('The simulation throws.', 'UnknownError');
      case 'aborts': {
        const answer = proceed();
        if ('db' in transaction) abort(transaction);
        return answer;
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
    // It commits already.
  }
}

/** Nobody knows which service a request is of: a fault is every client's. */
class SharedFaults extends Faults<Fault> {
  override countOf(): number {
    return super.countOf(0);
  }
}

type Method = (this: object, ...values: unknown[]) => unknown;

let isHooked = false;

/** Lets the storage of the seed make every request of its database. */
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
