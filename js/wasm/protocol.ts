/**
 * The numbers and shapes that cross between TypeScript and the wasm. On this side each of them is
 * defined only here, on Rust's side in `src/wasm/bindings`.
 */

/** The policies of an append through a stale handle; `policy_of` in `appends.rs`. */
export const STALE_POLICIES = { merge: 0, append: 1, reject: 2 } as const;

/** The states that a write needs to read, added up; `ScopeSet::bits` in `src/core/write/plan.rs`. */
export const SCOPES = { session: 1, user: 2, app: 4 } as const;

/** Passed to `decide` as the revision of a session that does not exist. */
export const ABSENT = -1;

/** The numbers of a decision that `AdapterWrite::number` returns. */
export const DECIDED = {
  sessionRevision: 0,
  userRevision: 1,
  appRevision: 2,
  lastUpdateTime: 3,
} as const;

/** The answer of an append; `appended_to_javascript` in `values.rs`. */
export type AppendAnswer = [
  createdRevision: number,
  revision: number,
  lastUpdateTime: number,
  since: number,
  /** The new revisions of user and app state; 0 for a state that did not change. */
  user: number,
  app: number,
  unchanged?: [position: number, revision: number][],
  missed?: [seq: number, revision: number, text: string][],
  /** The stored state before the append, if an event that the handle had missed was replaced. */
  state?: string,
];

/** The outcome of an append within a batch; `append_many` in `driver.rs`. */
export type AppendOutcome = [answer: AppendAnswer] | [answer: undefined, error: unknown];
