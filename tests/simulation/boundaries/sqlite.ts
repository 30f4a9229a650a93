// The SQLite driver: faults at every statement on a file that several connections share.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { SessionServiceOptions } from '../../../js/index.js';
import { loadOptional } from '../../../js/core/wasm/loader/optional_package.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { CrashedCalls } from '../run/crashed_calls.js';
import { Random } from '../run/random.js';
import { VirtualPace } from '../run/pace/virtual_pace.js';

const FAULTS = {
  /** Another connection holds the lock. */
  SQLITE_BUSY: { fails: true },
  SQLITE_IOERR: { fails: true },
  SQLITE_FULL: { fails: true },
  /** SQLite has rolled the transaction back. */
  'SQLITE_FULL, rolled back': { fails: true },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const ALL = Object.keys(FAULTS) as Fault[];

export const sqliteBoundary: Boundary = {
  name: 'sqlite',
  rules: { hasExactTimes: true },
  start: async (seed) => new SqliteStorage(seed, await emptyDatabase()),
};

/** A file with tables and without rows. */
let empty: Promise<Buffer> | undefined;

function emptyDatabase(): Promise<Buffer> {
  empty ??= (async () => {
    const folder = newFolder();
    const path = join(folder, 'empty.db');
    const service = new DatabaseSessionService(`sqlite:${path}`);
    await service.ping();
    await service.close();
    const bytes = readFileSync(path);
    rmSync(folder, { recursive: true });
    return bytes;
  })();
  return empty;
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'adk-session-wasm-simulation-'));

class SqliteStorage implements SimulatedStorage {
  readonly notes: string[] = [];
  readonly pace: VirtualPace;
  readonly faults: Faults<Fault>;
  onCrash?: (client: number) => void;
  readonly #crashedCalls = new CrashedCalls();
  readonly #random: Random;
  readonly #folder = newFolder();
  readonly #restoreTime: () => void;
  readonly #unhook: () => void;
  readonly #connections = new Map<number, Set<Sqlite.Database>>();
  readonly #crashed = new Set<number>();
  /** Clients without a statement so far. They may wait for the driver's module. */
  readonly #opening = new Set<number>();

  constructor(seed: number, empty: Buffer) {
    this.#random = new Random(seed, 'sqlite');
    this.pace = new VirtualPace(new Random(seed, 'pace'), () => this.#driverLoaded());
    this.faults = new Faults(new Random(seed, 'faults'), FAULTS, (note) => this.notes.push(note));
    writeFileSync(join(this.#folder, 'db'), empty);
    const hook = (statement: Sqlite.Statement, run: () => unknown) => this.#run(statement, run);
    this.#restoreTime = this.pace.install();
    this.#unhook = hookStatements(hook);
  }

  openClient(number: number, options: SessionServiceOptions): Client {
    this.#opening.add(number);
    const path = this.#path(number);
    const isOverKysely = this.#random.isLikely(0.3);
    const service = isOverKysely
      ? new DatabaseSessionService({ ...options, kysely: kyselyOver(path), engine: 'sqlite' })
      : new DatabaseSessionService(`sqlite:${path}`, { ...options, durability: 'relaxed' });
    return {
      service,
      crash: () => {
        this.#crashed.add(number);
        this.#crashedCalls.drop(service);
        // Like the end of a process: an open transaction is rolled back.
        for (const connection of this.#connections.get(number) ?? []) closeNow(connection);
      },
    };
  }

  openObserver() {
    this.#opening.add(0);
    return new DatabaseSessionService(`sqlite:${this.#path(0)}`, { durability: 'relaxed' });
  }

  async end(): Promise<void> {
    this.#restoreTime();
    await this.#crashedCalls.end();
    this.#unhook();
    for (const [, connections] of this.#connections) connections.forEach(closeNow);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Each client has another path of the same file, so that a statement shows its client. */
  #path(client: number): string {
    return `${this.#folder}/${'./'.repeat(client)}db`;
  }

  /** Node's module loader loads in order, so earlier imports have resolved when this one does. */
  async #driverLoaded(): Promise<void> {
    if (this.#opening.size > 0) await loadOptional('better-sqlite3');
  }

  #run(statement: Sqlite.Statement, run: () => unknown): unknown {
    const { database, source } = statement;
    if (!database.name.startsWith(this.#folder)) return run();
    const client = (database.name.length - this.#path(0).length) / './'.length;
    this.#opening.delete(client);
    if (this.#crashed.has(client)) throw errorOf('SQLITE_IOERR');
    const connections = this.#connections.get(client) ?? new Set();
    this.#connections.set(client, connections.add(database));
    const isEnd = /^\s*(?:rollback|pragma)/i.test(source);
    // The observer, reads of the schema and rollbacks meet no faults.
    if (client === 0 || isEnd) return run();
    const fault = this.faults.at(client, source.slice(0, 60), ALL);
    switch (fault) {
      case undefined:
        return run();
      case 'SQLITE_FULL, rolled back':
        if (database.inTransaction) database.exec('rollback');
        throw errorOf('SQLITE_FULL');
      case 'crashes before':
        return this.#crash(client);
      case 'crashes after':
        run();
        return this.#crash(client);
      default:
        throw errorOf(fault);
    }
  }

  #crash(client: number): never {
    this.onCrash?.(client);
    throw errorOf('SQLITE_IOERR');
  }
}

function errorOf(code: string): Error {
  return new Sqlite.SqliteError(`${code} of the simulation`, code);
}

function closeNow(connection: Sqlite.Database): void {
  try {
    connection.close();
  } catch {
    // A statement is still reading. The next row fails.
  }
}

function kyselyOver(path: string): Kysely<unknown> {
  const database = new Sqlite(path, { timeout: 0 });
  database.pragma('synchronous = normal');
  return new Kysely({ dialect: new SqliteDialect({ database }) });
}

type Hook = (statement: Sqlite.Statement, run: () => unknown) => unknown;

/** Lets a hook run every statement of the driver. @returns removes the hook */
function hookStatements(hook: Hook): () => void {
  const database = new Sqlite(':memory:');
  const prototype = Object.getPrototypeOf(database.prepare('select 1')) as Record<string, unknown>;
  database.close();
  const originals = ['run', 'all', 'get', 'iterate'].map((name) => {
    const original = prototype[name] as (...values: unknown[]) => unknown;
    prototype[name] = function (this: Sqlite.Statement, ...values: unknown[]) {
      return hook(this, () => original.apply(this, values));
    };
    return [name, original] as const;
  });
  return () => {
    for (const [name, original] of originals) prototype[name] = original;
  };
}
