/**
 * Sessions as files, in the JSON of any ADK, and all of a user's or an app's as a stream of them: to move,
 * keep, share and restore them.
 *
 * A subpath of its own, as a page that has no files should not load it. It works over any session
 * service, brings no wasm along, and goes with every entry of the package.
 *
 * @module adk-session-wasm/files
 */
export type { Casing } from '../python/casing.js';
export type { TimeUnit } from '../python/time.js';
export type { ImportProgress, OnImportProgress } from './import/append_batches.js';
export { exportSession } from './export/export_session.js';
export type { ExportSessionOptions } from './export/export_session.js';
export { exportSessions } from './export/export_sessions.js';
export type { ExportSessionsRequest } from './export/export_sessions.js';
export { initialState } from './format/fold.js';
export { importSession } from './import/import_session.js';
export type { ImportSessionOptions } from './import/import_session.js';
export { importSessions } from './import/import_sessions.js';
export type { ImportOutcome, ImportSessionsOptions } from './import/import_sessions.js';
export type { LinesSource } from './import/lines.js';
export { sessionFromFile, sessionToFile } from './format/session_file.js';
export type { ReadSessionOptions, SessionDialect, SessionFile } from './format/session_file.js';
export type { SharedState } from './import/state_plan.js';
