/**
 * The session service that a URI names, for programs that take it from their configuration.
 *
 * A subpath of its own, as it leads to the databases; in bundles for pages it leads to none.
 *
 * @module adk-session-wasm/uri
 */
import '../wasm/default_source.js';

export { getSessionServiceFromUri } from './get_session_service_from_uri.js';
export type { SessionServiceUriOptions } from './get_session_service_from_uri.js';
