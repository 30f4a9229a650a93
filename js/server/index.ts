/**
 * Serves a session service over HTTP, with the session routes of `adk api_server` and more.
 *
 * @module adk-session-wasm/server
 */
export type {
  Authorize,
  Permission,
  Rights,
  SessionAccess,
  SessionAction,
} from './rights/authorize.js';
export type { SessionHandlerOptions } from './handler_options.js';
export { nodeListener } from './node_listener.js';
export type { NodeRequest, NodeResponse } from './node_listener.js';
export { sessionHandler } from './session_handler.js';
export type { SessionHandler } from './session_handler.js';
