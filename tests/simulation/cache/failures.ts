import { isSessionError } from '../../../js/index.js';
import type { CacheOperation } from './script.js';

/** The codes with which an operation may fail because the remote did not answer as it should. */
const OF_REMOTE = ['connection_lost', 'remote'];

/** Whether an operation of a cache may fail with this error. */
export function mayFail(
  kind: CacheOperation['kind'],
  error: unknown,
  mayBeDeleted: boolean,
  isThrough: boolean,
): boolean {
  const code = isSessionError(error) ? error.code : 'no SessionError';
  // The write is stored, and sent later or set aside.
  if (isThrough && [...OF_REMOTE, 'schema_violation'].includes(code)) return true;
  // The remote's session was deleted before the change was sent.
  if (isThrough && code === 'not_found' && mayBeDeleted) return true;
  switch (kind) {
    case 'append':
      // It needs nothing but the local store.
      return code === 'not_found' && mayBeDeleted;
    case 'change':
    case 'drop':
      // The event was sent meanwhile.
      return code === 'not_found';
    case 'create':
      return [...OF_REMOTE, 'already_exists'].includes(code);
    case 'update':
    case 'title':
      return [...OF_REMOTE, 'not_found'].includes(code);
    default:
      return OF_REMOTE.includes(code);
  }
}
