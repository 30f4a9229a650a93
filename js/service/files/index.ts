/**
 * Exports and imports sessions: one session as a JSON file of any ADK, or all sessions of a user or an app as
 * JSON Lines. Use it to move, back up, share and restore them.
 *
 * It is a subpath of its own, so that a page without files does not load it. It works over any session
 * service, contains no wasm, and works with every entry of the package.
 *
 * @module adk-session-wasm/files
 */
export type { Casing } from '../../values/python/casing.js';
export type { TimeUnit } from '../../values/python/time.js';
export { exportSession } from './export_sessions.js';
export type { ExportSessionOptions } from './export_sessions.js';
export { exportSessions } from './export_sessions.js';
export type { ExportSessionsRequest } from './export_sessions.js';
export { importSession } from './import_session.js';
export type { ImportSessionOptions } from './import_session.js';
export { importSessions } from './import_sessions.js';
export type { ImportOutcome } from './import_sessions.js';
export type { LinesSource } from './import_sessions.js';
export { sessionFromFile, sessionToFile } from './session_file.js';
export type { ReadSessionOptions, SessionDialect, SessionFile } from './session_file.js';
export type { SharedState } from './import_session.js';
