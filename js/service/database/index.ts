/**
 * Sessions in SQLite, PostgreSQL or MariaDB, shared with agents of google-adk for Python.
 *
 * @module adk-session-wasm/database
 */
export { D1SessionService, type D1Database, type D1Options } from './d1_session_service.js';
export { DatabaseSessionService } from './database_session_service.js';
export type {
  AnyDatabaseOptions,
  ChannelOption,
  DatabaseDriverOptions,
  DatabaseHandleOptions,
  DatabaseKyselyOptions,
  DatabaseOptions,
  DatabaseUrlOptions,
} from './database_session_service.js';
export { postgresChannel } from '../../stores/database/engines/postgresql/postgres_channel.js';
export type { TableOptions } from '../../stores/database/table_options.js';
export type {
  DurableObjectDatabase,
  SqliteConnection,
  SqliteHandle,
} from '../../stores/database/engine/sqlite_handle.js';
export type {
  OptimisticDriver,
  SqlStatement,
} from '../../stores/database/engine/optimistic_driver.js';
export type { StatementLimits } from '../../stores/database/engine/connection.js';
export type { EngineKind } from '../../stores/database/engine/engine.js';
