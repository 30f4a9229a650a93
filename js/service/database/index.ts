/**
 * Sessions in SQLite, PostgreSQL or MariaDB, shared with agents of google-adk for Python.
 *
 * @module adk-session-wasm/database
 */
export { DatabaseSessionService } from './database_session_service.js';
export type {
  DatabaseHandleOptions,
  DatabaseKyselyOptions,
  DatabaseOptions,
  DatabaseUrlOptions,
} from './database_session_service.js';
export type { TableOptions } from '../../stores/database/table_options.js';
export type { SqliteHandle } from '../../stores/database/engine/sqlite_handle.js';
export type { EngineKind } from '../../stores/database/engine/engine.js';
