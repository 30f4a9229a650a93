import type { SessionErrorCode } from '../errors/errors.js';
import type { ArtifactService } from './artifact.js';
import type { NewEvent } from './event/event.js';
import type { HostAbortSignal } from './host.js';
import type { MethodsWith } from './service_methods.js';
import type { ReadPolicy } from './values/read_options.js';

/**
 * A call of a service that has settled. Synchronous calls report nothing.
 *
 * It holds no content and no ids.
 */
export interface CallDiagnostic {
  /** The kind of the diagnostic. */
  readonly kind: 'call';
  /** The `kind` of the service's storage, such as `'postgresql'`. */
  readonly storage: string;
  /** The method that was called. */
  readonly method:
    MethodsWith<'isReported'> | 'rewind' | 'fork' | 'branches' | 'stateAt' | keyof ArtifactService;
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
  /**
   * How often the storage repeated a transaction or a request for the call. Appends that share a transaction
   * count each of its retries.
   */
  readonly retries: number;
  /** The code of the error that the call rejected with. Absent: it succeeded. */
  readonly code?: SessionErrorCode;
}

/** What failed, or was found, while no call rejected with it. */
export interface StorageDiagnostic {
  /**
   * `'connection'`: a connection of the database's pool was lost while no call used it; on MariaDB also
   * while one did. The next call opens another one. `'cache'`: work of a cache in the background failed, or the
   * remote refused a change. `'mixed_rows'`: a SQLite file was read that has rows of both of google-adk's services,
   * `DatabaseSessionService` and `SqliteSessionService`. This package reads all of them, each of Python's services only
   * its own. Reported once. `'statistics'`: a search could not have PostgreSQL gather statistics, without which it may take
   * long. `'channel'`: the option `channel` has failed, or has dropped texts; `message` tells more.
   */
  readonly kind: 'connection' | 'cache' | 'mixed_rows' | 'statistics' | 'channel';
  /** The `kind` of the service's storage, such as `'postgresql'`. */
  readonly storage: string;
  /** The code of the failure; of `'mixed_rows'` `corrupt_record`. */
  readonly code: SessionErrorCode;
  /** Of `'channel'`: what failed, and what to do. */
  readonly message?: string;
}

/** The members by which a request to a storage belongs to a call of a service. */
export interface StorageCall {
  /**
   * Fires when the caller gives up the call. A storage that has not begun to write may then reject
   * with any error. Ignoring the signal is correct as well.
   */
  readonly signal?: HostAbortSignal | undefined;
  /**
   * A storage that repeats a transaction by itself calls this before, so that `retries` of a diagnostic
   * counts it. Not calling it is correct as well. Absent: nobody counts.
   */
  readonly onRetry?: (() => void) | undefined;
}

/** The member by which a request to write belongs to a write of a client. */
export interface WriteIdentity {
  /**
   * Which write this is, for a storage that keeps mutations: it applies each write once. Any other storage
   * ignores it.
   */
  readonly mutation?: MutationId | undefined;
}

/**
 * The members of requests that the public types do not show. Only code of this package gives them, such as the handler,
 * and a service's public methods take them.
 */
export interface HiddenMembers extends WriteIdentity {
  /** Of a read: where it looks first. Only a cache has a choice. */
  readonly reads?: ReadPolicy | undefined;
  /** Of a deletion: deletes only the session that was created at this revision. */
  readonly created?: number | undefined;
  /**
   * Of an append: it succeeds only if no event with one of the ids is stored, or if this append has stored it before:
   * its answer may have been lost. A text that no other append has. The last event is the message of a run, which
   * begins in this process: see `RunRevisions`. `js/service/runs/agent/run_storage.ts` gives it.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Of an append with an idempotency key: the events that end another run, which are stored before the message, in the
   * same step.
   */
  readonly endEvents?: readonly NewEvent[] | undefined;
  /** Of an append: the title that the client gives a session without one. That of the service's `autoTitle` precedes. */
  readonly firstTitle?: string | undefined;
}

/**
 * Names a write of a client that sends it again until it has an answer.
 *
 * The writes of one client to one session have growing numbers, and so have those to a user's or an app's state.
 * They are sent one after the other, because a number that is not higher than the last one changes nothing.
 */
export interface MutationId {
  /** A UUID of the client. */
  readonly client: string;
  /** A whole number from 1. */
  readonly number: number;
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
 * console.log(seen[0]?.kind, seen[0]?.storage); // call memory
 * ```
 */
export type Diagnostic = CallDiagnostic | StorageDiagnostic;
