import { DatabaseAdapter } from './database_adapter.js';
import { databaseParts, type DatabaseUrlOptions } from './database_session_service.js';

/**
 * The storage of a `DatabaseSessionService`, for what needs it without that service around it. Connects at
 * its first verb.
 *
 * @throws SessionError `invalid_argument` as the constructor of the service
 */
export function openAdapter(options: DatabaseUrlOptions): DatabaseAdapter {
  return new DatabaseAdapter(databaseParts(options));
}
