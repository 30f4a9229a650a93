/**
 * The numbers that cross between TypeScript and the wasm. On this side each of them is defined only here, on Rust's
 * side in `src/wasm/bindings`. The places of numbers in lists have their names from `packed/numbers.rs` there.
 */
import type { StoredScope } from '../../values/state/scope.js';

/** The policies of an append through a stale handle; `policy_of` in `appends.rs`. */
export const STALE_POLICIES = { merge: 0, append: 1, reject: 2 } as const;

/**
 * The policy of an append through a stale handle; see `SessionServiceOptions.stale`.
 */
export type StalePolicy = keyof typeof STALE_POLICIES;

/**
 * The most changed events that are told apart from a new session. With this many there may be more; `MOST_CHANGED` in
 * `changes.rs`.
 */
export const MOST_CHANGED = 1001;

/** The bits of the states that a write needs to read; see `bits_of` in `driven_write.rs`. */
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

/** For whom the wasm computes a view of a history; `Packed::reader` in `history.rs`. */
export const READERS = { transcript: 0, model: 1, agent: 2 } as const;

/** What the wasm is asked about a history: a view or a part of it, or the like; `ask_history` in `history.rs`. */
export const QUESTIONS = {
  view: 0,
  tail: 1,
  page: 2,
  activeEvents: 3,
  branches: 4,
  openCalls: 5,
} as const;

/** The kinds of places in a view; `Packed::place` in `history.rs`. */
export const PLACES = { none: 0, stored: 1, shown: 2, summary: 3 } as const;

/**
 * What the wasm answers if the given events do not decide a part of a view: earlier ones may, or only the whole history
 * does, or the view has no such summary. Their places are the numbers of `history.rs`.
 */
export const ANSWERS = ['needsEarlier', 'needsAll', 'notShown'] as const;

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

/** The flags of a function call; `call_of` in `history.rs`. */
export const CALL_FLAGS = { question: 1, longRunning: 2, signed: 4 } as const;

/** The flags of an event; `traits_of` in `history.rs`. */
export const EVENT_FLAGS = {
  byUser: 1,
  abort: 2,
  ofNode: 4,
  otherParts: 8,
} as const;

/** Stands for an id that is absent; `NO_ID` in `history.rs`. */
export const NO_ID = 2 ** 32 - 1;
