/**
 * Copies of a remote's sessions in a local storage: reads at once, writes offline, everything sent in order and once.
 *
 * @module adk-session-wasm/cache
 */
export { CachedSessionService } from './cached_session_service.js';
export type { CachedGetSessionConfig, CachedGetSessionRequest } from './cached_session_service.js';
export { MemoryLocalStore } from '../../stores/cache/local_store/memory_local_store.js';
export type {
  CacheStoreName,
  LocalKey,
  LocalRange,
  LocalStore,
  LocalTransaction,
} from '../../stores/cache/local_store/local_store.js';
export { signOut } from './sign_out.js';
export type { SignOutOptions } from './sign_out.js';
export type { CachedSessionOptions } from './options.js';
export type { ReadPolicy } from '../../values/model/values/read_options.js';
export type { CacheOutbox, OutboxEntry } from '../../stores/cache/outbox.js';
export type { OutboxChange, OutboxError } from '../../stores/cache/outbox_changes.js';
export type { CacheKey } from '../../stores/cache/records/cache_key.js';
export type {
  CacheFailure,
  CacheLoss,
  CacheStatus,
  PendingChanges,
} from '../../stores/cache/records/status.js';
