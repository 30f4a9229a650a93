/** Runs verbs on a connection to SQLite that the caller opens and closes. */
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import type { Connection } from '../../engine/connection.js';
import type { Engine } from '../../engine/engine.js';
import { readsNul } from '../../engine/prepared.js';
import {
  CLOUDFLARE_LIMITS,
  type DurableObjectDatabase,
  type SqliteConnection,
  type SqliteHandle,
} from '../../engine/sqlite_handle.js';
import type { Waits } from '../../engine/waits.js';
import { type SqliteTransaction, sqliteRunner } from '../../transactions/transaction.js';
import { adapted, type NodeStatement, refusingNul } from './sqlite_file.js';

/** Runs transactions on a handle, and sets none of its pragmas. Closing leaves it open. */
export async function connectHandle(
  handle: SqliteHandle,
  engine: Engine,
  waits: Waits,
): Promise<Connection> {
  const isPrepared = 'prepare' in handle;
  const database = isPrepared ? preparedOn(handle) : executedOn(handle);
  const transaction: SqliteTransaction | undefined = isPrepared
    ? undefined
    : (_mode, work) => handle.transactionSync(work);
  const run = sqliteRunner(database, engine, waits, transaction);
  const isWhole = await run('autocommit', readsNul, {});
  return {
    run: isWhole ? run : sqliteRunner(refusingNul(database), engine, waits, transaction),
    ...(!isPrepared && { limits: CLOUDFLARE_LIMITS }),
    close: () => Promise.resolve(),
  };
}

const close = (): void => undefined;

function preparedOn(handle: SqliteConnection): SqliteDatabase {
  return {
    prepare(sql) {
      const statement: unknown = handle.prepare(sql);
      // `better-sqlite3` and `libsql` have what Kysely expects. The others take each value as an argument.
      const hasReader = typeof (statement as Partial<SqliteStatement>).reader === 'boolean';
      return hasReader ? (statement as SqliteStatement) : adapted(sql, statement as NodeStatement);
    },
    close,
  };
}

function executedOn({ sql }: DurableObjectDatabase): SqliteDatabase {
  return {
    prepare(text) {
      const all = (values: readonly unknown[]) => sql.exec(text, ...(values as never[])).toArray();
      const run = (values: readonly unknown[]) => {
        all(values);
        return { changes: 0, lastInsertRowid: 0 };
      };
      return { reader: true, all, run, iterate: (values) => all(values).values() };
    },
    close,
  };
}
