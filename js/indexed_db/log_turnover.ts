/** A database that is there for a moment. */
const NAME = 'adk-session-wasm (log turnover)';

/**
 * Makes Chromium begin a new log file, in the background. A database that is lost after a kill is mostly
 * lost by this:
 *
 * 1. Chromium keeps IndexedDB in LevelDB, which writes the header of a log record and its content with two
 *    calls. A kill between them leaves a header without content at the log's end: after 4 to 8 of 100 kills
 *    in the middle of a burst.
 * 2. At the next start LevelDB passes over it, and appends to that log all the same.
 * 3. At the start after that, the header claims bytes of what follows it: "checksum mismatch". Chromium then
 *    deletes all databases of the origin.
 *
 * A new log file drops the old one with its end. Deleting a database makes LevelDB begin one, at the cost of
 * some milliseconds beside the page's own work.
 */
export function turnLogOver(factory: IDBFactory): void {
  if (!isChromium()) return;
  try {
    const request = factory.open(NAME);
    request.onsuccess = () => {
      request.result.close();
      factory.deleteDatabase(NAME);
    };
  } catch {
    // It is a precaution; the database itself is open.
  }
}

/** Chromium alone tells of losses, and it alone has LevelDB. */
export function isChromium(): boolean {
  if (typeof IDBVersionChangeEvent === 'undefined') return false;
  return 'dataLoss' in IDBVersionChangeEvent.prototype;
}
