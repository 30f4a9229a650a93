/**
 * The history of a session: rewinds, branches, forks, and which events count after them. The rules are those of
 * google-adk for Python, so that agents in both languages see one history.
 *
 * Nothing is ever deleted: a rewind appends one event. The functions work over any session service of this package.
 *
 * @module adk-session-wasm/history
 */
export { historyView } from './agent_view.js';
export type { HistoryReader } from './agent_view.js';
export { branches, fork, stateAt } from './histories.js';
export type { ForkRequest, StateAtRequest } from './histories.js';
export { rewind, switchBranch, undoRewind } from './rewind.js';
export type { RewindRequest, SwitchBranchRequest } from './rewind.js';
export type {
  BranchAlternative,
  HistoryPlace,
  HistoryState,
  RewindResult,
  TurnBranches,
} from '../history_types.js';
