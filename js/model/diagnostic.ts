import type { SessionErrorCode } from '../errors/errors.js';

/**
 * The method of a service that a {@link CallDiagnostic} is about. `open` of a service reports itself as `ping`.
 *
 * @example
 * ```ts
 * import type { ServiceMethod } from 'adk-session-wasm';
 *
 * const writes: readonly ServiceMethod[] = ['createSession', 'appendEvent', 'appendEvents'];
 * ```
 */
export type ServiceMethod =
  | 'createSession'
  | 'getSession'
  | 'getOrCreateSession'
  | 'listSessions'
  | 'listEvents'
  | 'loadOlder'
  | 'deleteSession'
  | 'deleteSessions'
  | 'appendEvent'
  | 'appendEvents'
  | 'updateSession'
  | 'sessionInfo'
  | 'updateState'
  | 'getUserState'
  | 'getAppState'
  | 'deleteUser'
  | 'deleteUserState'
  | 'deleteAppState'
  | 'ping';

/**
 * A call of a service that has settled. Synchronous calls report nothing.
 *
 * It holds no content. It holds ids only if the service has the option `diagnosticIds`.
 *
 * @example
 * ```ts
 * import type { CallDiagnostic } from 'adk-session-wasm';
 *
 * function line({ method, durationMs, code }: CallDiagnostic): string {
 *   return `${method} ${durationMs.toFixed(1)} ms ${code ?? 'ok'}`;
 * }
 * ```
 */
export interface CallDiagnostic {
  /** The kind of the diagnostic. */
  readonly kind: 'call';
  /** The `kind` of the service's storage, such as `'postgresql'`. */
  readonly storage: string;
  /** The method that was called. */
  readonly method: ServiceMethod;
  /** Milliseconds from the call until it settled, including the wait for its turn. */
  readonly durationMs: number;
  /**
   * The events or sessions that the call returned or stored. Absent if the call failed, and for methods that
   * return and store neither.
   */
  readonly rows?: number;
  /**
   * The number of appends that were stored in the same transaction, this one included. Only for appends
   * that stored something.
   */
  readonly groupSize?: number;
  /** The code of the error that the call rejected with. Absent: it succeeded. */
  readonly code?: SessionErrorCode;
  /** The app of the call. Only with `diagnosticIds`, as the two below. */
  readonly appName?: string;
  /** The user of the call, if it has one. */
  readonly userId?: string;
  /** The session of the call, if it has one. */
  readonly sessionId?: string;
}

/**
 * Something that the storage did by itself.
 *
 * @example
 * ```ts
 * import type { StorageDiagnostic } from 'adk-session-wasm';
 *
 * const conflict: StorageDiagnostic = { kind: 'retry', storage: 'postgresql', code: 'storage_blocked' };
 * ```
 */
export interface StorageDiagnostic {
  /**
   * `'retry'`: a transaction or request failed and is tried again. Also a group of appends that failed: its
   * appends are then stored one by one. `'connection'`: a connection of the database's pool was lost while no
   * call used it; on MySQL and MariaDB also while one did. `'retention'`: the option `retention` could not be
   * applied. It is tried again an hour later, or when a session is created.
   */
  readonly kind: 'retry' | 'connection' | 'retention';
  /** The `kind` of the service's storage, such as `'postgresql'`. */
  readonly storage: string;
  /** The code of the error that a call would have got. */
  readonly code: SessionErrorCode;
}

/**
 * A report to the option `onDiagnostic`.
 *
 * @example
 * ```ts
 * import { type Diagnostic, InMemorySessionService } from 'adk-session-wasm';
 *
 * const seen: Diagnostic[] = [];
 * const service = new InMemorySessionService({ onDiagnostic: (diagnostic) => seen.push(diagnostic) });
 * await service.createSession({ appName: 'shop', userId: 'ada' });
 * console.log(seen[0]?.kind, seen[0]?.storage); // 'call' 'memory'
 * ```
 */
export type Diagnostic = CallDiagnostic | StorageDiagnostic;
