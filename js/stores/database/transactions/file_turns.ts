/**
 * Lets one transaction at a time begin on a SQLite file, among the services of this program whose driver is unknown. A
 * driver may not survive that another connection holds the lock: `libsql` 0.5 leaves the failed `begin` open, and the
 * connection then commits nothing until the garbage collector has freed the statement.
 */

/** By the path of the file, or the Kysely of a database in memory: ends with the last transaction that was let in. */
const lastTurns = new Map<unknown, Promise<void>>();

/**
 * Waits until the transactions before have ended.
 *
 * @param file the path, or an object that stands for a database in memory
 * @param onQueue called if there are such transactions
 * @returns ends this turn; later calls do nothing
 */
export async function takeTurn(file: unknown, onQueue: () => void): Promise<() => void> {
  const before = lastTurns.get(file);
  if (before !== undefined) onQueue();
  let end = (): void => undefined;
  const turn = new Promise<void>((resolve) => (end = resolve));
  lastTurns.set(file, turn);
  await before;
  return () => {
    end();
    if (lastTurns.get(file) === turn) lastTurns.delete(file);
  };
}
