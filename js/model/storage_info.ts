import type { SessionErrorCode } from '../errors/errors.js';

/**
 * The loss of a database: the browser has deleted it with all its sessions.
 */
export interface DataLoss {
  /** When the loss was noticed, in milliseconds since 1970. */
  when: number;
  /** A sentence that names the database and the reason of its loss, if that is known. */
  message: string;
}

/**
 * Describes where a service keeps its data.
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 *
 * const { kind, durable } = new InMemorySessionService().storage; // 'memory', false
 * ```
 */
export interface StorageInfo {
  /**
   * `'memory'`, `'indexeddb'`, the storage's own `kind`, or `'custom'` for a storage without one.
   */
  kind: string;
  /** Whether the data outlives the process or page. */
  durable: boolean;
  /** Why `'auto'` uses memory. */
  reason?: string | undefined;
  /** Over IndexedDB: the loss that this page noticed when it opened the database. */
  lost?: DataLoss | undefined;
}

/**
 * Whether a service can be used now, for the health check of a server.
 *
 * @example
 * ```ts
 * import type { Health } from 'adk-session-wasm';
 *
 * function status({ isOk }: Health): number {
 *   return isOk ? 200 : 503;
 * }
 * ```
 */
export interface Health {
  /** Whether the storage answered. */
  readonly isOk: boolean;
  /** The `kind` of the storage. */
  readonly storage: string;
  /** Milliseconds that the storage took to answer or to fail. */
  readonly durationMs: number;
  /** The number of calls of the service that had not settled before. */
  readonly pendingCalls: number;
  /** The code of the error, if the storage did not answer. */
  readonly code?: SessionErrorCode;
}

/**
 * The options of `close`.
 */
export interface CloseOptions {
  /**
   * Milliseconds after which the close no longer waits for pending calls. The storage is then closed under these
   * calls, and they fail, mostly with `connection_lost` or `closed`.
   *
   * Default: databases, Vertex AI and other servers end their calls by limits of their own. Over other storages,
   * such as a storage of your own, the close waits 30 seconds. Then it closes the storage and rejects with
   * `storage_failed`, which names the pending calls.
   */
  timeoutMs?: number | undefined;
}
