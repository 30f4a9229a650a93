// The steps of a seed, and what the simulation knows about each write.

import type { EventSpec, SessionName } from '../operation.js';

/** An operation that a tab starts. */
export type CacheOperation =
  | { readonly kind: 'create' | 'getOrCreate'; readonly key: SessionName; readonly state: object }
  | { readonly kind: 'get'; readonly key: SessionName; readonly last: number | undefined }
  | { readonly kind: 'list' | 'sync' | 'deleteUser' | 'deleteUserState' }
  | { readonly kind: 'append'; readonly handle: number; readonly events: readonly EventSpec[] }
  | { readonly kind: 'change'; readonly handle: number; readonly event: EventSpec }
  | { readonly kind: 'drop'; readonly handle: number; readonly id: string }
  | { readonly kind: 'update'; readonly key: SessionName; readonly event: EventSpec }
  | { readonly kind: 'updateUser'; readonly value: string }
  | { readonly kind: 'title'; readonly key: SessionName; readonly title: string }
  | { readonly kind: 'delete'; readonly key: SessionName };

/** A change of another program, made directly on the remote. */
export type RemoteOperation =
  | { readonly kind: 'append'; readonly key: SessionName; readonly events: readonly EventSpec[] }
  | { readonly kind: 'create'; readonly key: SessionName }
  | { readonly kind: 'delete'; readonly key: SessionName }
  | { readonly kind: 'updateUser'; readonly value: string };

/** What happens next. Numbers of devices and tabs count from 0, in the order of their start. */
export type Step =
  | { readonly what: 'operation'; readonly tab: number; readonly operation: CacheOperation }
  | { readonly what: 'remote'; readonly operation: RemoteOperation }
  /** The tab ends without a close, and another one opens on its device. */
  | { readonly what: 'crash' | 'close'; readonly tab: number }
  /** The browser stops the tab for this time. */
  | { readonly what: 'freeze'; readonly tab: number; readonly milliseconds: number }
  | { readonly what: 'offline' | 'online'; readonly device: number };

export function describeStep({ what, ...rest }: Step): string {
  return `${what} ${JSON.stringify(rest)}`;
}

/** A version of an event that a tab or another program has tried to write. */
export interface Version {
  readonly spec: EventSpec;
  readonly event: WrittenEvent;
  /** Whether it takes the place of all versions before it, as `outbox.change` writes it. */
  readonly isChange: boolean;
  readonly beganAt: number;
  /** The step of its acknowledgement. */
  acknowledgedAt: number | undefined;
}

/** An event that a tab or another program has tried to write. The times are those of its first version. */
export interface WrittenEvent {
  readonly id: string;
  readonly versions: Version[];
  /** Whether `updateState` makes the event. */
  readonly isUpdate: boolean;
  /** Whether a tab has dropped it. It may be there all the same. */
  isGivenUp: boolean;
  readonly session: string;
  /** `undefined`: another program, directly on the remote. */
  readonly device: number | undefined;
  readonly beganAt: number;
  /** The step of its acknowledgement. */
  acknowledgedAt: number | undefined;
}
