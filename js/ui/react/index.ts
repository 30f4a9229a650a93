'use client';
/**
 * Hooks for React 18 and 19 over the stores of `adk-session-wasm/live`.
 *
 * @module adk-session-wasm/react
 */
export {
  createSessionHooks,
  SessionProvider,
  useArtifact,
  useCacheStatus,
  useSearch,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
} from './hooks.js';
export type {
  SessionHooks,
  SessionProviderProps,
  SetSessionState,
  UseSearchRequest,
  UseSearchResult,
  UseSessionOptions,
  UseSessionResult,
  UseSessionsRequest,
  UseSessionsResult,
  UseSessionStateResult,
} from './hooks.js';
