/**
 * The numbers that cross between TypeScript and the wasm, and the shapes of a write. On this side each of them is
 * defined only here, on Rust's side in `src/wasm/bindings`. `js/storage/session_store.ts` has the shapes of reads.
 */
import type { SharedScope, StoredScope } from '../state/scope.js';

/** The policies of an append through a stale handle; `policy_of` in `appends.rs`. */
export const STALE_POLICIES = { merge: 0, append: 1, reject: 2 } as const;

/** The most changed events that an append of no events returns. With this many there may be more; `MOST_CHANGED` in `plan.rs`. */
export const MOST_CHANGED = 1001;

/** The states that a write needs to read, added up; `bits_of` in `adapter_write.rs`. */
export const SCOPES = { session: 1, user: 2, app: 4 } as const satisfies Record<
  StoredScope,
  number
>;

/**
 * The `since` of a write that needs no changed events: no revision is above it. `NEVER` in
 * `src/core/session/revision.rs`.
 */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** Passed to `decide` as the revision of a session that does not exist. */
export const ABSENT = -1;

/** The positions in the result of `AdapterWrite::plan`. */
export const PLANNED = { scopes: 0, locates: 1, since: 2 } as const;

/**
 * The positions in the result of `AdapterWrite::decide`: the new revision of each scope, the session's time, the
 * revision at which it was created, and the first event.
 */
export const DECIDED = {
  session: 0,
  user: 1,
  app: 2,
  lastUpdateTime: 3,
  created: 4,
  events: 5,
} as const satisfies Record<StoredScope | 'lastUpdateTime' | 'created' | 'events', number>;

/**
 * Computes a delta from the JSON text of a state; see `computing` in `src/wasm/bindings/computed.rs`. Returns the
 * JSON text of the delta, and after a NUL that of the event that stores it. Never throws.
 */
export type Compute = (state: string) => string;

/** The new revisions of the shared states that a write changed; 0 for a state that did not change. */
export type SharedRevisions = readonly [user: number, app: number];

/** The positions in {@link Appended}. */
export const APPENDED = {
  createdRevision: 0,
  revision: 1,
  lastUpdateTime: 2,
  since: 3,
  user: 4,
  app: 5,
  unchanged: 6,
  missed: 7,
  state: 8,
  placed: 9,
} as const satisfies Record<SharedScope, number> & Record<string, number>;

type AppendedHead = [
  createdRevision: number,
  revision: number,
  lastUpdateTime: number,
  since: number,
  ...shared: SharedRevisions,
];

type AppendedEvents = [
  unchanged: [position: number, revision: number][] | undefined,
  missed: [seq: number, revision: number, text: string][] | undefined,
  /**
   * The stored state before the append, if there are no events to append, or if an event that the handle had missed was
   * replaced.
   */
  state: string | undefined,
  /** For each event of the append, its place and its stored revision. Empty if the storage cannot tell. */
  placed: [seq: number, revision: number][],
];

/** The result of an append. */
export type Appended = [...AppendedHead, ...AppendedEvents];

/** The result of an append as the wasm returns it; `appended_to_javascript` in `values.rs`. */
export type AppendedByCore = [...AppendedHead, ...Partial<AppendedEvents>];

/**
 * Adds the places that the wasm leaves out: those of new events, of which the last one has the session's revision.
 *
 * @param count the number of events of the append
 */
export function withPlaces(appended: AppendedByCore, count: number): Appended {
  const whole: unknown[] = appended;
  if (whole.length <= APPENDED.placed) {
    const placed: [seq: number, revision: number][] = [];
    const last = appended[APPENDED.revision];
    for (let revision = last - count + 1; revision <= last; revision += 1)
      placed.push([revision, revision]);
    while (whole.length < APPENDED.placed) whole.push(undefined);
    whole.push(placed);
  }
  return whole as Appended;
}

/** The position of the labels in a `ReadEvents`; `page_to_javascript` in `values.rs`. */
export const READ_EVENTS = { labels: 10 } as const;

/** The outcome of an append within a group; `append_many` in `sessions.rs`. */
export type AppendOutcome = [appended: AppendedByCore] | [appended: undefined, error: unknown];

/** For whom the wasm computes a view of a history; `history_view` in `history.rs`. */
export const READERS = { transcript: 0, framework: 1, agent: 2 } as const;

/** The kinds of marks; `mark_of` in `history.rs`. */
export const MARK_KINDS = {
  fixed: 0,
  message: 1,
  answer: 2,
  filtered: 3,
  rewind: 4,
  compaction: 5,
  otherCompaction: 6,
  compacted: 7,
} as const;
