/**
 * Stores that show sessions as they are stored now, whoever changes them.
 *
 * The stores work in Svelte as they are. `adk-session-wasm/react` and `adk-session-wasm/vue` bind them to these
 * libraries.
 *
 * @module adk-session-wasm/live
 */
export { liveSession } from './live_session.js';
export { liveSessions } from './live_sessions.js';
export { errorText, type ErrorTexts } from '../../values/errors/error_text.js';
export { shownOf, type ShownError, type ShownEvent } from '../../values/model/event/shown.js';
export { liveSearch } from './live_search.js';
export {
  showArtifact,
  type ShownArtifact,
  type ShownFile,
  type ShownFileRequest,
} from './show_artifact.js';
export type { LiveSearch, LiveSearchRequest, LiveSearchSnapshot } from './live_search.js';
export type {
  AskOptions,
  AttachOptions,
  LiveSession,
  LiveSessionOptions,
  LiveSessionSnapshot,
  SentContent,
} from './types.js';
export type { AttachedFile } from '../../values/model/artifact.js';
export type { Answers } from '../../service/runs/user_answers.js';
export type { Question } from '../../service/runs/user_answers.js';
export type {
  MessageHandle,
  RunAgent,
  RunContext,
  SentEvent,
} from '../../service/runs/agent/run_context.js';
export type { SessionRun } from '../../service/runs/agent/run_status.js';
export type {
  ListedSession,
  LiveSessions,
  LiveSessionsRequest,
  LiveSessionsSnapshot,
} from './types.js';
export type { RefusedChange } from './snapshot/refused_changes.js';
export type { LiveStore } from './types.js';
export type { ProvidedSessions } from './types.js';
export type { ShownTurn, ShownTurns } from './types.js';
export type { ScopedState } from './snapshot/scoped_state.js';
export type { UnsentEvent } from './snapshot/unsent_events.js';
export type { UnsentEntry } from './types.js';
