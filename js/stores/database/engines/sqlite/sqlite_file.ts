import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';
import { SessionError } from '../../../../values/errors/errors.js';
import { missingDriver } from '../../engine/driver.js';
import type { Engine } from '../../engine/engine.js';
import { returnsRows, withoutNul } from '../../engine/prepared.js';

/** The part of `better-sqlite3` that is used. */
interface BetterSqlite {
  default: new (path: string, options: object) => SqliteDatabase;
}

/** The part of `node:sqlite` that is used. */
interface NodeSqlite {
  DatabaseSync: new (
    path: string,
    options: object,
  ) => {
    prepare(sql: string): NodeStatement;
    close(): void;
  };
}

export interface NodeStatement {
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate?(...parameters: readonly unknown[]): IterableIterator<unknown>;
}

/**
 * Opens a SQLite file with `better-sqlite3`. Takes the built-in `node:sqlite` in Bun and Deno, and in Node if the package
 * or its binary is not installed, or may not be loaded.
 *
 * Neither driver waits for a lock. That would block the thread; see `Attempts`.
 *
 * @param options passed to the driver; with `readonly: true` a missing file is not created
 * @throws SessionError `storage_unavailable` if neither driver is there; `unsupported` if `better-sqlite3` is not for
 *   this Node
 */
export async function openSqlite(
  engine: Engine,
  path: string,
  options: object,
): Promise<SqliteDatabase> {
  // Bun imports better-sqlite3, but refuses to open a database with it. Deno asks for the right to load its binary.
  const isNode = !('Bun' in globalThis) && !('Deno' in globalThis);
  if (isNode) await requireSupportedNode(engine);
  const better = isNode ? await loadOptional<BetterSqlite>('better-sqlite3') : undefined;
  const readonly = 'readonly' in options && options.readonly === true;
  let missing = missingDriver(engine);
  if (better !== undefined) {
    try {
      return new better.default(path, { ...options, timeout: 0, readonly });
    } catch (error) {
      const message = isForbidden(error) ? FORBIDDEN : NO_BINARY;
      if (message === NO_BINARY && !isWithoutBinary(error)) throw error;
      missing = new SessionError('storage_unavailable', message, {
        storage: engine.kind,
        cause: error,
      });
    }
  }
  const builtIn = await loadOptional<NodeSqlite>('node:sqlite');
  if (builtIn === undefined) throw missing;
  const database = new builtIn.DatabaseSync(
    path,
    readonly ? { ...options, readOnly: true } : options,
  );
  return refusingNul({
    prepare: (sql) => adapted(sql, database.prepare(sql)),
    close: () => database.close(),
  });
}

const NO_BINARY =
  'better-sqlite3 has no binary for this program; run: npm rebuild better-sqlite3, or with pnpm: pnpm approve-builds';

const FORBIDDEN =
  'This Node may not load the binary of better-sqlite3. Start it with --allow-addons, and without --no-addons.';

/** Whether Node may load no binaries of packages: with `--no-addons`, or with `--permission` alone. */
function isForbidden(error: unknown): boolean {
  return (Object(error) as { code?: unknown }).code === 'ERR_DLOPEN_DISABLED';
}

/**
 * Whether the package found no binary, or one of another version of Node. A package manager that runs no scripts of
 * packages installs none.
 */
function isWithoutBinary(error: unknown): boolean {
  const { code, tries } = Object(error) as { code?: unknown; tries?: unknown };
  return Array.isArray(tries) || code === 'ERR_DLOPEN_FAILED' || code === 'MODULE_NOT_FOUND';
}

/** Adapts a statement of `node:sqlite` or `bun:sqlite` to the interface of `better-sqlite3`, which Kysely expects. */
export function adapted(sql: string, statement: NodeStatement): SqliteStatement {
  return {
    reader: returnsRows(sql),
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    // Node has `iterate` since 22.13.
    iterate: (parameters) =>
      statement.iterate?.(...parameters) ?? statement.all(...parameters).values(),
  };
}

/** The same database, for a driver that does not read NUL back. */
export function refusingNul(database: SqliteDatabase): SqliteDatabase {
  return {
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        reader: statement.reader,
        all: (parameters) => statement.all(withoutNul(parameters)),
        run: (parameters) => statement.run(withoutNul(parameters)),
        iterate: (parameters) => statement.iterate(withoutNul(parameters)),
      };
    },
    close: () => database.close(),
  };
}

interface NodeModule {
  readonly createRequire: (from: string) => (path: string) => unknown;
}

/** The members of a package's `package.json` that are compared. */
interface Manifest {
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/**
 * Compares the `engines.node` of a native driver with this Node, before the driver is loaded. npm only warns of a
 * difference, and a call of such a driver may end the program without an error: better-sqlite3 13 does on Node 20.
 *
 * @throws SessionError `unsupported` with the version that the driver needs
 */
async function requireSupportedNode({ kind, driver }: Engine): Promise<void> {
  const manifest = await manifestOf(driver);
  const needed = lowestMajorOf(manifest?.engines?.node);
  const running = majorOf(process.versions.node);
  if (manifest === undefined || needed === undefined || running >= needed) return;
  const message =
    `${driver} ${manifest.version} needs Node ${needed}, and this is Node ${process.versions.node}; ` +
    `update Node, or install a version of ${driver} for Node ${running}, such as the major version before.`;
  throw new SessionError('unsupported', message, { storage: kind });
}

/** Returns `undefined` if the package is not installed, or if this is not Node. */
async function manifestOf(name: string): Promise<Manifest | undefined> {
  const module = await loadOptional<NodeModule>('node:module');
  try {
    return module?.createRequire(import.meta.url)(`${name}/package.json`) as Manifest | undefined;
  } catch {
    // Loading the driver itself says what is missing.
    return undefined;
  }
}

/** Returns the lowest major version that a range such as `20.x || >=22.12` admits. Upper bounds do not count. */
export function lowestMajorOf(range = ''): number | undefined {
  const versions = range.replace(/<=?\s*[\w.-]+/g, '').match(/\d+(?:\.\w+)*/g);
  return versions === null ? undefined : Math.min(...versions.map(majorOf));
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}
