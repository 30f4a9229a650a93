/**
 * Composables for Vue 3 over the stores of `adk-session-wasm/live`.
 *
 * @module adk-session-wasm/vue
 */
export { provideSessions, useSession, useSessions, useSessionState } from './composables.js';
export type { ProvidedSessions } from '../live/provided_sessions.js';
export type { SessionRefs, SessionsRefs, UseSessionOptions } from './composables.js';
