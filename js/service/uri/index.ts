/**
 * Makes the session service that a URI names, for programs that take the URI from their configuration.
 *
 * It is a subpath of its own, because it imports the database code; bundles for pages leave that out.
 *
 * @module adk-session-wasm/uri
 */
export { getSessionServiceFromUri } from './get_session_service_from_uri.js';
export type { SessionServiceUriOptions } from './get_session_service_from_uri.js';
