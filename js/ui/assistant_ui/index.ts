/**
 * Adapters with which `@assistant-ui/react` keeps its threads as sessions, and its messages as events. They import
 * nothing of that package.
 *
 * @module adk-session-wasm/assistant-ui
 */
export { sessionAttachments } from './attachments.js';
export type { SessionAttachments } from './attachments.js';
export { sessionHistory } from './history.js';
export type { AssistantSessions, SessionHistory, SessionHistoryOptions } from './history.js';
export { sessionThreadList } from './thread_list.js';
export type {
  FoundThreads,
  SessionThread,
  SessionThreadList,
  SessionThreadListOptions,
} from './thread_list.js';
