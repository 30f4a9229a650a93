/**
 * Composables for Vue 3 over the stores of `adk-session-wasm/live`.
 *
 * @module adk-session-wasm/vue
 */
export {
  provideSessions,
  useCacheStatus,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
} from './composables.js';
export type { ProvidedSessions } from '../live/types.js';
export type { SessionRefs, SessionsRefs, UseSessionOptions } from './composables.js';
