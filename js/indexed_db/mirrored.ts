import { isSessionError, SessionError } from '../errors/errors.js';
import { BUCKET, bucketsOf } from './buckets.js';
import { isChromium } from './log_turnover.js';
import type { Wish } from './reconcile.js';

/**
 * The state of a database with a mirror: `kept`, `restored` from the mirror, or `lost`; `undefined` without a
 * mirror.
 */
export type Mirrored = 'kept' | 'restored' | 'lost' | undefined;

/**
 * Connects a mirror to a connection, if the database has one or is to get one; see `mirror.ts`.
 *
 * @returns the state of the database; `undefined` without a mirror
 * @throws SessionError `unsupported` if a mirror is wanted and the browser has no Storage Buckets
 */
export async function mirrorDatabase(
  name: string,
  database: IDBDatabase,
  wish: Wish,
): Promise<Mirrored> {
  if (bucketsOf() === undefined) {
    if (!wish.isWanted) return undefined;
    throw new SessionError(
      'unsupported',
      `The database "${name}" cannot have a mirror here: the browser has no Storage Buckets, or not for a page without HTTPS. Only Chromium has them; it alone loses databases after a kill. Open it without the option mirror.`,
      { key: 'mirror' },
    );
  }
  try {
    if (!wish.isWanted && !(await hasBucket())) return undefined;
    const { openMirror } = await import('./mirror.js');
    return await openMirror(name, database, wish);
  } catch (cause) {
    throw failure(name, cause);
  }
}

/** Deletes a database by `remove`. If it has a mirror, the mirror is deleted first. */
export async function deleteMirrored(
  name: string,
  timeout: number,
  remove: () => Promise<void>,
): Promise<void> {
  if (!(await hasBucket())) return remove();
  const { deleteWithMirror } = await import('./mirror.js');
  await deleteWithMirror(name, timeout, remove);
}

/** Returns whether any database of this origin may have a mirror. */
async function hasBucket(): Promise<boolean> {
  if (!isChromium()) return false;
  return (await bucketsOf()?.keys())?.includes(BUCKET) ?? false;
}

/**
 * Makes the error for a mirror that failed. It is never `storage_unavailable`, which would make `'auto'` use
 * memory although the database exists.
 */
function failure(name: string, cause: unknown): unknown {
  if (isSessionError(cause)) return cause;
  const { name: kind, message } = cause as Error;
  const code = kind === 'QuotaExceededError' ? 'quota_exceeded' : 'connection_lost';
  const reason = `The mirror of the database "${name}" cannot be opened: ${kind}: ${message}`;
  return new SessionError(code, reason, { cause });
}
