import type { StateShape } from '../../values/state/state_shape.js';
import type {
  OptimisticDriver,
  SqlStatement,
} from '../../stores/database/engine/optimistic_driver.js';
import { CLOUDFLARE_LIMITS } from '../../stores/database/engine/sqlite_handle.js';
import { invalidValue } from '../../values/errors/invalid.js';
import { type DatabaseDriverOptions, DatabaseSessionService } from './database_session_service.js';
import { noteManyProcesses } from './shared_database.js';

/** The part of a binding to Cloudflare D1 that is used, `env.DB`. */
export interface D1Database {
  /** Makes a statement of SQL. */
  prepare(sql: string): {
    /** Returns the statement with values. */
    bind(...values: unknown[]): unknown;
  };
  /** Runs statements with values in one transaction. */
  batch(statements: never[]): Promise<
    readonly {
      /** The rows of a statement. */
      readonly results: unknown[];
    }[]
  >;
}

/** Options of a {@link D1SessionService}. */
export type D1Options<S extends object = StateShape> = Omit<
  DatabaseDriverOptions<S>,
  'driver' | 'engine'
>;

/**
 * Keeps sessions in Cloudflare D1, in the tables of google-adk Python's `DatabaseSessionService`. Install `kysely`
 * beside this package. Missing tables are created by the first call.
 *
 * D1 has no transaction that stays open. Each write reads, decides and then sends one batch, which D1 runs as a
 * transaction. The batch fails if another isolate has changed what was read, and the write is then repeated.
 *
 * A row holds 2,000,000 bytes: a larger event or state fails with `quota_exceeded` before anything is written.
 *
 * @example
 * ```ts
 * import { D1SessionService, type D1Database } from 'adk-session-wasm/database';
 *
 * export default {
 *   async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
 *     const service = new D1SessionService(env.DB);
 *     const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 *     return Response.json(await service.getOrCreateSession(key));
 *   },
 * };
 * ```
 */
export class D1SessionService<S extends object = StateShape> extends DatabaseSessionService<S> {
  /** @throws SessionError `invalid_argument` if `database` is no binding to D1, or if an option is invalid */
  constructor(database: D1Database, options: D1Options<S> = {}) {
    const { prepare, batch } = Object(database) as Partial<D1Database>;
    if (typeof prepare !== 'function' || typeof batch !== 'function') {
      throw invalidValue('database', 'must be a binding to D1, such as env.DB', database);
    }
    const driver = drivers.get(database) ?? d1Driver(database);
    drivers.set(database, driver);
    // The requests of a Worker meet many isolates.
    noteManyProcesses(driver);
    super({ ...options, driver, engine: 'sqlite' });
  }
}

/** The driver of each binding. Services of the same driver open its tables once. */
const drivers = new WeakMap<D1Database, OptimisticDriver>();

function d1Driver(database: D1Database): OptimisticDriver {
  const run = async (statements: readonly SqlStatement[]): Promise<object[][]> => {
    const bound = statements.map(({ sql, values }) => database.prepare(sql).bind(...values));
    const answers = await database.batch(bound as never[]);
    return answers.map(({ results }) => results as object[]);
  };
  return {
    limits: CLOUDFLARE_LIMITS,
    read: (statements) => run(statements).catch(rethrow),
    commit: (guards, statements) =>
      run([...guards, ...statements]).then(
        () => true,
        (error: unknown) => {
          if (/(?:NOT NULL|UNIQUE) constraint failed/.test(String(error))) return false;
          return rethrow(error);
        },
      ),
  };
}

/** Gives an error the code of SQLite, which D1 has only in the message. */
function rethrow(cause: unknown): never {
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = /\bSQLITE_[A-Z_]+\b/.exec(message)?.[0];
  throw Object.assign(new Error(message, { cause }), { code });
}
