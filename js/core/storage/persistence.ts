/**
 * The storage quota that the browser gives this site. The package itself never calls these
 * functions. Browsers ask the user, or judge by the user's past actions, so the page must choose
 * the moment.
 */

/**
 * The part of its storage quota that this site uses.
 */
export interface StorageUsage {
  /** Bytes used by all data of this site, roughly. */
  readonly usage: number;
  /**
   * Bytes that the site may use, as the browser reports them. Chromium reports `usage` plus 10 GiB on every
   * disk, so this number does not tell how much room is left.
   */
  readonly quota: number;
}

/**
 * Asks the browser not to clear this site's data by itself when the disk runs full. Firefox asks
 * the user. Call it when the user has data to lose.
 *
 * @returns whether the data is kept; `false` also if the host cannot tell
 *
 * @example
 * ```ts
 * import { requestPersistence } from 'adk-session-wasm';
 *
 * if (!(await requestPersistence())) console.warn('The browser may clear your conversations.');
 * ```
 */
export async function requestPersistence(): Promise<boolean> {
  try {
    // `persist` is missing in Node and on pages without TLS, and forbidden in sandboxed frames and
    // some workers.
    return (await navigator.storage.persist()) === true;
  } catch {
    return false;
  }
}

/**
 * Returns how many bytes this site uses. Compare `usage` with a limit of your own: `quota` does not tell when
 * the disk runs full. A write without room fails with `quota_exceeded`, and nothing is lost.
 *
 * @returns bytes; `undefined` if the host cannot tell
 *
 * @example
 * ```ts
 * import { storageUsage } from 'adk-session-wasm';
 *
 * const LIMIT = 200 * 2 ** 20;
 * const room = await storageUsage();
 * if (room !== undefined && room.usage > LIMIT) console.warn('Delete old sessions.');
 * ```
 */
export async function storageUsage(): Promise<StorageUsage | undefined> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return usage === undefined || quota === undefined ? undefined : { usage, quota };
  } catch {
    return undefined;
  }
}
