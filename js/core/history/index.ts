/**
 * The history of a session: rewinds, branches, forks, and which events count after them. The rules are those of
 * google-adk for Python, so that agents in both languages see one history.
 *
 * Nothing is ever deleted: a rewind appends one event. The functions work over any session service of this package.
 *
 * @module adk-session-wasm/history
 */
export type { HistoryReader } from './agent_filter.js';
export { branches } from './branches.js';
export { fork } from './fork.js';
export type { ForkRequest } from './fork.js';
export { historyView } from './agent_view.js';
export { rewind, switchBranch, undoRewind } from './rewind.js';
export type { RewindRequest, SwitchBranchRequest } from './rewind.js';
export { stateAt } from './state_at.js';
export type { StateAtRequest } from './state_at.js';
export type {
  BranchAlternative,
  HistoryPlace,
  HistoryState,
  RewindResult,
  TurnBranches,
} from '../history_types.js';
