// A database without transactions across calls: isolates over one, whose lists of statements come in any order and may fail.

import Sqlite from 'better-sqlite3';

import {
  DatabaseSessionService,
  type OptimisticDriver,
} from '../../../js/service/database/index.js';
import type { SessionServiceOptions } from '../../../js/index.js';
import { sqliteDriver } from '../../js/stores/database/optimistic/sqlite_driver.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { CrashedCalls } from '../run/crashed_calls.js';
import { Faults } from '../run/faults.js';
import { VirtualPace } from '../run/pace/virtual_pace.js';
import { Random } from '../run/random.js';

const FAULTS = {
  /** The database refuses the list. */
  'is busy': { fails: true },
  'is full': { fails: true },
  'loses the request': { fails: true },
  'loses the result': { fails: true },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];

export const optimisticBoundary: Boundary = {
  name: 'optimistic',
  rules: { hasExactTimes: true },
  start: (seed) => new OptimisticStorage(seed),
};

class OptimisticStorage implements SimulatedStorage {
  readonly notes: string[] = [];
  readonly pace: VirtualPace;
  readonly faults: Faults<Fault>;
  onCrash?: (client: number) => void;
  readonly #crashedCalls = new CrashedCalls();
  readonly #crashed = new Set<number>();
  /** Clients without a request so far. They may wait for the module of the storage. */
  readonly #opening = new Set<number>();
  readonly #database = new Sqlite(':memory:');
  readonly #restoreTime: () => void;

  constructor(seed: number) {
    this.pace = new VirtualPace(new Random(seed, 'pace'), () => this.#storageLoaded());
    this.faults = new Faults(new Random(seed, 'faults'), FAULTS, (note) => this.notes.push(note));
    this.#restoreTime = this.pace.install();
  }

  openClient(number: number, options: SessionServiceOptions): Client {
    this.#opening.add(number);
    const driver = this.#driver(number);
    const service = new DatabaseSessionService({ ...options, driver, engine: 'sqlite' });
    return {
      service,
      crash: () => {
        this.#crashed.add(number);
        this.#crashedCalls.drop(service);
      },
    };
  }

  openObserver() {
    const driver = sqliteDriver(this.#database);
    return new DatabaseSessionService({ driver, engine: 'sqlite' });
  }

  async end(): Promise<void> {
    this.#restoreTime();
    await this.#crashedCalls.end();
    this.#database.close();
  }

  /** Node's module loader loads in order, so earlier imports have resolved when this one does. */
  async #storageLoaded(): Promise<void> {
    if (this.#opening.size > 0) await import('../../../js/stores/database/database_storage.js');
  }

  /** Each list of statements waits for its turn, so those of other clients come in between. */
  #driver(client: number): OptimisticDriver {
    const driver = sqliteDriver(this.#database);
    const pass = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
      this.#opening.delete(client);
      await this.pace.turn();
      if (this.#crashed.has(client)) throw new Error('the client has crashed');
      const fault = this.faults.at(client, name, ALL);
      if (fault === 'crashes before' || fault === 'crashes after') {
        if (fault === 'crashes after') await run();
        this.onCrash?.(client);
        throw new Error('the client has crashed');
      }
      if (fault === 'is busy') throw errorOf('SQLITE_BUSY');
      if (fault === 'is full') throw errorOf('SQLITE_FULL');
      if (fault === 'loses the request') throw new TypeError('fetch failed');
      const result = await run();
      if (fault === 'loses the result') throw new TypeError('fetch failed');
      return result;
    };
    return {
      read: (statements) => pass('read', () => driver.read(statements)),
      commit: (guards, statements) => pass('commit', () => driver.commit(guards, statements)),
    };
  }
}

function errorOf(code: string): Error {
  return new Sqlite.SqliteError(`${code} of the simulation`, code);
}
