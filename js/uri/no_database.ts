/** What stands in the place of the database adapter in bundles for pages, which can reach none. */
import { SessionError } from '../errors/errors.js';

/** @throws SessionError `storage_unavailable`, always */
export function openAdapter(): never {
  throw new SessionError(
    'storage_unavailable',
    'A page cannot reach a SQL database; use indexeddb: here, or the database from a server.',
  );
}
