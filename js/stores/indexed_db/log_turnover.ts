/** Name of a database that exists only for a moment. */
const NAME = 'adk-session-wasm (log turnover)';

/**
 * Makes Chromium begin a new log file, in the background. Most databases that are lost after a kill are lost
 * in this way:
 *
 * 1. Chromium keeps IndexedDB in LevelDB, which writes the header and the content of a log record with two
 *    calls. A kill between them leaves a header without content at the end of the log. This happened after 4
 *    to 8 of 100 kills in the middle of a burst of writes.
 * 2. At the next start LevelDB skips that header, but appends to the same log.
 * 3. At the start after that, the header claims bytes of the next record: "checksum mismatch". Chromium then
 *    deletes all databases of the origin.
 *
 * A new log file replaces the damaged one. Deleting a database makes LevelDB begin a new log. It takes a few
 * milliseconds, in parallel with the page's own work.
 */
export function turnLogOver(): void {
  if (!isChromium()) return;
  try {
    const request = indexedDB.open(NAME);
    request.onsuccess = () => {
      request.result.close();
      indexedDB.deleteDatabase(NAME);
    };
  } catch {
    // Ignored: this is only a precaution, and the database itself is open.
  }
}

/**
 * Returns whether the browser is Chromium: only Chromium reports losses (`dataLoss`), and only Chromium uses
 * LevelDB.
 */
export function isChromium(): boolean {
  if (typeof IDBVersionChangeEvent === 'undefined') return false;
  return 'dataLoss' in IDBVersionChangeEvent.prototype;
}
