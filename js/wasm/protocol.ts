/**
 * The numbers and shapes that cross between TypeScript and the wasm, each defined here alone on this side.
 * On Rust's side they stand in `src/bindings`.
 */

/** What an append does when others appended since the handle was read; `policy_of` in `sessions.rs`. */
export const STALE_POLICIES = { merge: 0, append: 1, reject: 2 } as const;

/** States that a write wants to see, as a sum; `ScopeSet::bits` in `src/write/plan.rs`. */
export const SCOPES = { session: 1, user: 2, app: 4 } as const;

/** What a handle is known by; `AdapterWrite::append` in `adapter_write.rs`. */
export const POSITIONS = { revision: 0, latest: 1, event: 2 } as const;

/** Passed to `decide` as the revision of a session that is not there. */
export const ABSENT = -1;

/** What `AdapterWrite::number` is asked for. */
export const DECIDED = {
  sessionRevision: 0,
  userRevision: 1,
  appRevision: 2,
  lastUpdateTime: 3,
} as const;

/** What an append did; `appended_to_javascript` in `values.rs`. */
export type AppendAnswer = [
  created: number,
  revision: number,
  lastUpdateTime: number,
  since: number,
  unchanged?: [position: number, revision: number][],
  missed?: [seq: number, revision: number, text: string][],
  user?: number,
  app?: number,
  /** What is stored before the append, where an event that the handle has missed was replaced. */
  state?: string,
];
