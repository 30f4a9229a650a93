/** What reads more than a session with its stored events: lists, views, and pages of events. Loaded on demand. */
export { EventPages, walkEvents } from './event_pages.js';
export { SessionLists, walkSessions } from './session_lists.js';
export { ViewReader } from './view/view_reader.js';
export { MissingCalls } from './window/missing_calls.js';
