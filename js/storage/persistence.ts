/**
 * The browser's room for this site. Nothing here is ever called by the package itself: browsers ask the
 * user, or judge by what they have done, so the page must choose the moment.
 */

/**
 * How much of its room this site has taken.
 *
 * @example
 * ```ts
 * import { type StorageUsage, storageUsage } from 'adk-session-wasm';
 *
 * const room: StorageUsage | undefined = await storageUsage();
 * ```
 */
export interface StorageUsage {
  /** Bytes that all data of this site take together, roughly. */
  readonly usage: number;
  /** Bytes that it may take, roughly. */
  readonly quota: number;
}

/**
 * Asks the browser never to clear this site's data by itself when the disk runs full. Firefox asks the
 * user. Call it when they have something to lose.
 *
 * @returns whether the data is kept; `false` also where the host cannot tell
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
    // Missing in Node and on pages without TLS, forbidden in sandboxed frames and workers of some hosts.
    return (await navigator.storage.persist()) === true;
  } catch {
    return false;
  }
}

/**
 * How much room this site has taken, and how much there is.
 *
 * @returns bytes; `undefined` where the host cannot tell
 *
 * @example
 * ```ts
 * import { storageUsage } from 'adk-session-wasm';
 *
 * const room = await storageUsage();
 * if (room !== undefined && room.usage > 0.8 * room.quota) console.warn('Delete old sessions.');
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
