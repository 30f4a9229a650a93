/**
 * Composables for Vue 3 over the stores of `adk-session-wasm/live`.
 *
 * @module adk-session-wasm/vue
 */
export {
  provideSessions,
  useArtifact,
  useCacheStatus,
  useSearch,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
} from './composables.js';
export type { ProvidedSessions } from '../live/types.js';
export type { SearchRefs, SessionRefs, SessionsRefs, UseSessionOptions } from './composables.js';
