// What a client may ask of its service, and what came of it.

import type { Session, StateShape } from '../../js/index.js';

export interface SessionName {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** An event of the workload. Whoever appends it again appends the same id. */
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
      /** The number of the handle that the answer becomes. */
      readonly handle: number;
    }
  | {
      readonly kind: 'get';
      readonly key: SessionName;
      /** Only the last so many events. */
      readonly last: number | undefined;
      readonly handle: number;
    }
  | {
      readonly kind: 'list';
      readonly appName: string;
      readonly userId: string | undefined;
      readonly order: 'asc' | 'desc';
      readonly limit: number | undefined;
      readonly offset: number;
    }
  | { readonly kind: 'delete'; readonly key: SessionName }
  | {
      readonly kind: 'append';
      readonly handle: number;
      readonly key: SessionName;
      readonly events: readonly EventSpec[];
      /** Whether the events go as one batch, all or none. */
      readonly isBatch: boolean;
    }
  | {
      readonly kind: 'update';
      readonly appName: string;
      readonly userId: string | undefined;
      readonly sessionId: string | undefined;
      readonly delta: StateShape;
    }
  | { readonly kind: 'userState' | 'deleteUser' | 'deleteUserState'; readonly appName: string; readonly userId: string } // prettier-ignore
  | { readonly kind: 'appState' | 'deleteAppState'; readonly appName: string };

/** How a call ended; values are canonical texts, taken at the moment when the call settled. */
export type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly value: string | undefined }
  | { readonly kind: 'failed'; readonly code: string; readonly error: unknown }
  /** The client crashed meanwhile: nobody will ever know. */
  | { readonly kind: 'crashed' };

/** One operation that a client began. */
export interface Call {
  readonly number: number;
  readonly client: number;
  readonly operation: Operation;
  /** The steps of the simulation between which it was under way. */
  readonly beganAt: number;
  settledAt: number;
  outcome: Outcome;
  /** The time that the service saw. */
  readonly now: number;
  /** Whether its signal has fired. */
  isAborted: boolean;
  /** Whether the client's `close` had been called before. */
  readonly isAfterClose: boolean;
  /** Whether the client's `close` was called while it was under way. */
  isDuringClose: boolean;
  /** Faults that the client's requests had met when the call, or one it overlaps, began; and when it settled. */
  readonly faultsBefore: number;
  faultsAfter: number;
  /** Where the call is an append: what the handle's service does with stale handles. */
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

/** One line about an operation, for the report of a failure. */
export function told(operation: Operation): string {
  const { kind, ...rest } = operation;
  return `${kind} ${JSON.stringify(rest)}`;
}
