import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';
import type { Runner } from '../../engine/connection.js';
import type { Engine } from '../../engine/engine.js';
import { refused } from '../../engine/failure.js';
import { plainQuery, type Steps, together } from '../../engine/prepared.js';

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
export async function fileCheck(engine: Engine, run: Runner): Promise<(() => void) | undefined> {
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
