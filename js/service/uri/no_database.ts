/** Replaces the storage of databases in bundles for pages, which cannot reach a SQL database. */
import { SessionError } from '../../values/errors/errors.js';

/** @throws SessionError always `storage_unavailable` */
export function openStorage(): never {
  throw new SessionError(
    'storage_unavailable',
    'A page cannot reach a SQL database; use indexeddb: in a page.',
  );
}
