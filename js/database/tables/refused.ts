import { SessionError, type SessionErrorCode } from '../../errors/errors.js';
import type { Engine } from '../engines/engine.js';

/**
 * Makes the error that refuses a database.
 *
 * @param what continues a sentence whose subject is the database
 */
export function refused(
  { kind, name }: Engine,
  what: string,
  code: SessionErrorCode = 'storage_unavailable',
): SessionError {
  return new SessionError(code, `The ${name} database ${what}.`, { storage: kind });
}
