import { IN_MEMORY } from '../../engine/address.js';
import type { Connection, ConnectOptions } from '../../engine/connection.js';
import type { Engine } from '../../engine/engine.js';
import { failureKind } from '../../engine/failure.js';
import { plainQuery, together } from '../../engine/prepared.js';
import { sqliteRunner } from '../../transactions/sqlite_runner.js';
import { fileCheck } from './file_check.js';
import { openSqlite } from './sqlite_file.js';

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
