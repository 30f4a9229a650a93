import { IN_MEMORY } from '../../engine/address.js';
import type { Connection, ConnectOptions, TransactionRunner } from '../../engine/connection.js';
import type { Engine } from '../../engine/engine.js';
import { failureKind, refused } from '../../engine/failure.js';
import { plainQuery, type Steps, together } from '../../engine/prepared.js';
import { sqliteRunner } from '../../transactions/transaction.js';
import { openSqlite } from './sqlite_file.js';
import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';

export async function connectSqlite(
  engine: Engine,
  path: string,
  options: ConnectOptions,
): Promise<Connection> {
  const file = await openSqlite(engine, path, options.driverOptions);
  const run = sqliteRunner(file, engine, options.waits);
  const close = (): Promise<void> => {
    file.close();
    return Promise.resolve();
  };
  const setPragma = async (setting: string) =>
    run('autocommit', () => together([plainQuery(`pragma ${setting}`)]), {});
  try {
    await setPragma('foreign_keys = on');
    // What is deleted is overwritten. The free pages of a file would have it until they are used again.
    if (path !== IN_MEMORY) await setPragma('secure_delete = on');
    await setPragma(`synchronous = ${options.durability === 'strict' ? 'full' : 'normal'}`);
  } catch (error) {
    await close();
    throw error;
  }
  const useWriteAheadLog = async (): Promise<void> => {
    try {
      await setPragma('journal_mode = wal');
    } catch (error) {
      const { cause } = Object(error) as { cause?: unknown };
      // A read-only file keeps its mode.
      if (failureKind(engine, cause) !== 'readonly') throw error;
    }
  };
  const requireFile = path === IN_MEMORY ? undefined : await fileCheck(engine, run);
  return {
    run,
    ...(path !== IN_MEMORY && { useWriteAheadLog }),
    ...(requireFile !== undefined && { requireFile }),
    close,
  };
}

/** The part of `node:fs` that is used. It is synchronous, as the driver is: opening waits for nothing else. */
interface FileSystem {
  statSync(path: string, options: { bigint: true }): { dev: bigint; ino: bigint };
}

/** Gives the absolute path of the file, which was opened in the folder of that time. */
const FILE = plainQuery("select file from pragma_database_list where name = 'main'");

/**
 * Remembers which file a connection has open. On most systems a file can be deleted meanwhile: SQLite then writes
 * into a file that nobody can open.
 *
 * @returns a function that throws `storage_unavailable` if the path leads to no file or to another one;
 *   `undefined` if this host cannot tell
 */
async function fileCheck(
  engine: Engine,
  run: TransactionRunner,
): Promise<(() => void) | undefined> {
  const files = await loadOptional<FileSystem>('node:fs');
  const [row] = await run(
    'autocommit',
    function* (): Steps<readonly { file: string }[]> {
      const [rows] = yield* together([FILE]);
      return rows as readonly { file: string }[];
    },
    {},
  );
  if (files === undefined || !row?.file) return undefined;
  const { file } = row;
  const identity = (): string | undefined => {
    try {
      const { dev, ino } = files.statSync(file, { bigint: true });
      return `${dev} ${ino}`;
    } catch {
      return undefined;
    }
  };
  const opened = identity();
  if (opened === undefined) return undefined;
  return () => {
    if (identity() === opened) return;
    throw refused(
      engine,
      `is no longer at ${file}: its file was deleted or replaced while it was open, so what is written now is lost; make a new service`,
    );
  };
}
