/**
 * Sessions on a server, over HTTP.
 *
 * @module adk-session-wasm/remote
 */
export { RemoteSessionService } from './remote_session_service.js';
export type { CancelRunRequest, RemoteSessionOptions } from './remote_session_service.js';
export type { RunOptions, RunRequest } from '../../stores/remote/run_request.js';
