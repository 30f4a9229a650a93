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
export { exportSession } from './export/export_session.js';
export type { ExportSessionOptions } from './export/export_session.js';
export { exportSessions } from './export/export_sessions.js';
export type { ExportSessionsRequest } from './export/export_sessions.js';
export { importSession } from './import/import_session.js';
export type { ImportSessionOptions } from './import/import_session.js';
export { importSessions } from './import/import_sessions.js';
export type { ImportOutcome } from './import/import_sessions.js';
export type { LinesSource } from './import/read_lines.js';
export { sessionFromFile, sessionToFile } from './format/session_file.js';
export type { ReadSessionOptions, SessionDialect, SessionFile } from './format/session_file.js';
export type { SharedState } from './import/state_plan.js';
