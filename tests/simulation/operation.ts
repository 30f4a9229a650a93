// The operations of a client on its service, and their outcomes.

import type { Session, StateShape } from '../../js/index.js';

export interface SessionName {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** An event of the workload. A retry appends the same id. */
export interface EventSpec {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly delta: StateShape;
}

export type Operation =
  | {
      readonly kind: 'create' | 'getOrCreate';
      readonly key: SessionName;
      readonly state: StateShape;
      /** The number of the returned handle. */
      readonly handle: number;
    }
  | {
      readonly kind: 'get';
      readonly key: SessionName;
      /** The size of the window; `undefined`: all events. */
      readonly last: number | undefined;
      readonly handle: number;
    }
  | {
      readonly kind: 'list';
      readonly appName: string;
      readonly userId: string | undefined;
      readonly order: 'asc' | 'desc';
      readonly limit: number | undefined;
      readonly page: number;
    }
  | { readonly kind: 'delete'; readonly key: SessionName }
  | {
      readonly kind: 'append';
      readonly handle: number;
      readonly key: SessionName;
      readonly events: readonly EventSpec[];
      /** Whether the events are appended as one atomic batch. */
      readonly isBatch: boolean;
    }
  | {
      readonly kind: 'update';
      readonly appName: string;
      readonly userId: string | undefined;
      readonly sessionId: string | undefined;
      readonly delta: StateShape;
      /** A key that counts: the delta is then computed from the stored state by {@link countingDelta}. */
      readonly counter: string | undefined;
    }
  | { readonly kind: 'userState' | 'deleteUser' | 'deleteUserState'; readonly appName: string; readonly userId: string } // prettier-ignore
  | { readonly kind: 'appState' | 'deleteAppState'; readonly appName: string };

/** Returns the delta with one more than the state's count. */
export function countingDelta(delta: StateShape, counter: string, state: StateShape): StateShape {
  const count = state[counter];
  return { ...delta, [counter]: typeof count === 'number' ? count + 1 : 1 };
}

/** How a call ended. Values are canonical texts, made when the call settled. */
export type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly value: string | undefined }
  | { readonly kind: 'failed'; readonly code: string; readonly error: unknown }
  /** The client crashed before the call settled, so the outcome is unknown. */
  | { readonly kind: 'crashed' };

/** One operation that a client has started. */
export interface Call {
  readonly number: number;
  readonly client: number;
  readonly operation: Operation;
  /** The steps of the simulation at which it began and settled. */
  readonly beganAt: number;
  settledAt: number;
  outcome: Outcome;
  /** The time of the service's clock. */
  readonly now: number;
  /** Whether its signal has fired. */
  isAborted: boolean;
  /** Whether the client's `close` had been called before. */
  readonly isAfterClose: boolean;
  /** Whether the client's `close` was called before it settled. */
  isDuringClose: boolean;
  /** The number of faults of the client's requests when the call, or one that it overlaps, began; and when it settled. */
  readonly faultsBefore: number;
  faultsAfter: number;
  /** For an append: how the handle's service treats stale handles. */
  readonly policy: StalePolicy;
}

export type StalePolicy = 'merge' | 'append' | 'reject';

/** A session object that a client holds. */
export interface Handle {
  readonly number: number;
  readonly client: number;
  readonly key: SessionName;
  readonly session: Session;
}

/** Describes an operation in one line, for the report of a failure. */
export function describeOperation(operation: Operation): string {
  const { kind, ...rest } = operation;
  return `${kind} ${JSON.stringify(rest)}`;
}
