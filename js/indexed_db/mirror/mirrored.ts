import { loadPart } from '../../wasm/loader/load_part.js';
import { SessionError } from '../../errors/errors.js';
import { BUCKET, bucketsOf } from './buckets.js';
import { isChromium } from '../log_turnover.js';
import type { MirrorOptions } from './reconcile.js';
import { openingFailure } from '../requests.js';

/**
 * Connects a mirror to a connection, if the database has one or is to get one; see `mirror.ts`.
 *
 * @throws SessionError `unsupported` if a mirror is wanted and the browser has no Storage Buckets
 */
export async function mirrorDatabase(
  name: string,
  database: IDBDatabase,
  options: MirrorOptions,
): Promise<void> {
  if (bucketsOf() === undefined) {
    if (!options.isWanted) return;
    throw new SessionError(
      'unsupported',
      `The database "${name}" cannot have a mirror here: the browser has no Storage Buckets, or not for a page without HTTPS. Only Chromium has them; it alone loses databases after a kill. Open it without the option mirror.`,
      { key: 'mirror' },
    );
  }
  try {
    if (!options.isWanted && !(await hasBucket())) return;
    const { openMirror } = await loadPart(() => import('./mirror.js'));
    await openMirror(name, database, options);
  } catch (cause) {
    throw openingFailure(mirrorOf(name), cause);
  }
}

/** Deletes a database by `remove`. If it has a mirror, the mirror is deleted first. */
export async function deleteMirrored(
  name: string,
  timeout: number,
  remove: () => Promise<void>,
): Promise<void> {
  try {
    if (!(await hasBucket())) return await remove();
    const { deleteWithMirror } = await loadPart(() => import('./mirror.js'));
    await deleteWithMirror(name, timeout, remove);
  } catch (cause) {
    throw openingFailure(mirrorOf(name), cause);
  }
}

function mirrorOf(name: string): string {
  return `The mirror of the database "${name}"`;
}

/** Returns whether any database of this origin may have a mirror. */
async function hasBucket(): Promise<boolean> {
  if (!isChromium()) return false;
  return (await bucketsOf()?.keys())?.includes(BUCKET) ?? false;
}
