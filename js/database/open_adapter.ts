import { DatabaseAdapter } from './database_adapter.js';
import { databaseParts, type DatabaseUrlOptions } from './database_session_service.js';

/**
 * Returns the storage adapter of a `DatabaseSessionService`, for callers that do not need the service.
 * Connects at its first verb.
 *
 * @throws SessionError `invalid_argument` as the constructor of the service
 */
export function openAdapter(options: DatabaseUrlOptions<object>): DatabaseAdapter {
  return new DatabaseAdapter(databaseParts(options));
}
