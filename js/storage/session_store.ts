import type { EventSnapshot } from '../snapshot.js';
import type { MaybePromise } from '../service/call.js';
import type { ListedRecord, ListedTuple, SharedStates } from '../service/listed_records.js';
import type { Fragments } from '../service/stored_events.js';
import type { Floor, Scopes } from '../watch/service_feed.js';
import type { AppendAnswer } from '../wasm/protocol.js';
import type { StorageKey } from './adapter.js';

/** A session that was read or created; see `session_to_javascript` in `src/bindings/values.rs`. */
export type ReadSession = [
  created: number,
  revision: number,
  lastUpdateTime: number,
  state: string,
  fragments: Fragments,
  /** If the call created it. */
  ...scopes: Scopes | [],
];

/** A page of sessions; see `listing_to_javascript` in `src/bindings/values.rs`. */
export type ReadPage = [
  sessions: (ListedRecord | ListedTuple)[],
  page: number,
  limit: number,
  totalItems: number,
  totalPages: number,
  shared: SharedStates,
];

/** The numbers of a request for a page, as the caller gave them. */
export interface PageRequest {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  readonly page: number | undefined;
  readonly withTotal: boolean;
}

/** Where a handle stands when it appends. */
export interface HandlePosition {
  /** The revision that the session was created at; NaN: not known; below 0: there is no handle. */
  readonly created: number;
  /** The revision that the handle is at; ignored without `created`. */
  readonly revision: number;
  /** What a handle is known by without `created`. */
  readonly lastEventId: string | undefined;
}

/**
 * What a service works on: sessions, their states and events, wherever they are kept. Names were checked by
 * the service. Over memory everything is answered at once.
 *
 * Each method fails with a `SessionError`. Fires the signal, if the storage heeds one, a call that has not begun
 * to write fails with `aborted`.
 */
export interface SessionStore {
  /** Opens the storage now, where it is one to be opened. */
  open?(): MaybePromise<void>;

  /**
   * Creates a session; `state` is a JSON object of all scopes. If the key is taken it fails with
   * `already_exists`, or reads the session that is there (`ifAbsent`).
   */
  create(
    key: Required<StorageKey>,
    state: string,
    now: number,
    ifAbsent: boolean,
    signal: AbortSignal | undefined,
  ): MaybePromise<ReadSession>;

  /** Reads a session with the last so many of its events, from a time on. */
  get(
    key: Required<StorageKey>,
    last: number | undefined,
    after: number | undefined,
    signal: AbortSignal | undefined,
  ): MaybePromise<ReadSession | undefined>;

  /** Lists sessions of a user, or without one of the app. */
  list(
    appName: string,
    userId: string | undefined,
    descending: boolean,
    page: PageRequest,
    signal: AbortSignal | undefined,
  ): MaybePromise<ReadPage>;

  /** Appends events, all or none. `policy` is one of `STALE_POLICIES`. */
  append(
    key: Required<StorageKey>,
    position: HandlePosition,
    policy: number,
    events: readonly EventSnapshot[],
    now: number,
    signal: AbortSignal | undefined,
  ): MaybePromise<AppendAnswer>;

  /** Changes the states of a user and an app; `delta` is a JSON object with prefixes. */
  update(
    appName: string,
    userId: string | undefined,
    delta: string,
    signal: AbortSignal | undefined,
  ): MaybePromise<Scopes>;

  /** The JSON object of a user's state, or without one of the app's; names without prefix. */
  scopeState(
    appName: string,
    userId: string | undefined,
    signal: AbortSignal | undefined,
  ): MaybePromise<string>;

  /** Deletes a session; without one a user's or an app's state, and a user's sessions if told to. */
  delete(
    appName: string,
    userId: string | undefined,
    sessionId: string | undefined,
    withSessions: boolean,
    signal: AbortSignal | undefined,
  ): MaybePromise<Floor>;

  /** Whether somebody listens to what writes change beside the session. */
  tellChanges?(isHeard: boolean): void;

  /** Gives up what the store holds in the wasm. What it has begun goes on. */
  free?(): void;
}
