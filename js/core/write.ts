import type { CompositeSessionKey, ExpectedEvents } from '../model/session.js';
import type { Description } from '../model/description.js';
import type { WriteIdentity } from '../model/diagnostic.js';
import type { EventSnapshot } from '../model/event/snapshot.js';
import type { StalePolicy } from '../wasm/protocol.js';

/** The position of a handle when an append begins. */
export interface HandlePosition {
  /** The revision that created the session. NaN: unknown. Below 0: there is no handle. */
  readonly created: number;
  /** The revision of the handle; ignored if `created` is unknown. */
  readonly revision: number;
  /** Identifies the handle's position if `created` is unknown. */
  readonly lastEventId: string | undefined;
}

/** Events to append to one session, all or none: what a caller means. */
export interface AppendWrite extends WriteIdentity {
  readonly key: Readonly<CompositeSessionKey>;
  readonly events: readonly EventSnapshot[];
  readonly stale: StalePolicy;
  /** The revision that the session must have. */
  readonly expectedRevision?: number | undefined;
  readonly expectedEvents?: ExpectedEvents | undefined;
  readonly titleChange?: TitleChange | undefined;
  /** Computes the delta of the only event from the stored state, and replaces the event in `events`. */
  readonly compute?: Compute | undefined;
}

/** An append whose turn has come. Its events lack the keys that a later write has superseded meanwhile. */
export interface PlacedAppend extends AppendWrite {
  readonly position: HandlePosition;
}

/** A title that takes the place of another one. If the session has a third one, it stays. */
export interface TitleChange {
  /** The title that the session must have. Empty: it must have none. */
  readonly from: string;
  readonly to: string;
}

/** Returns the change that gives a title to a session without one. */
export function firstTitle(to: string | undefined): TitleChange | undefined {
  return to === undefined ? undefined : { from: '', to };
}

/** A session to create. The deltas of its events change its state, in order. */
export interface NewSession {
  readonly key: Readonly<CompositeSessionKey>;
  /** A JSON object with the keys of all scopes. */
  readonly state: string;
  readonly events: readonly EventSnapshot[];
  /** A JSON object: changes that no event carries. They follow the events' deltas, and are stored in all scopes. */
  readonly delta: string;
  readonly description: Description;
  /** When a session from elsewhere was last updated, in milliseconds. A later event wins. Absent: `now`. */
  readonly lastUpdateTime: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the `user:` and `app:` keys of the state and of the events are stored. */
  readonly sharesState: boolean;
}

/** Computes a delta from the JSON text of a state. Never throws. */
export type Compute = (state: string) => Computed;

/** A delta that was computed, and the event that stores it, if one does. */
export interface Computed {
  /** JSON text. */
  readonly delta: string;
  /** JSON text. */
  readonly event?: string | undefined;
}
