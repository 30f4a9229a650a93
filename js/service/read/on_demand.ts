/** What reads more than a session with its stored events: lists, views, and pages of events. Loaded on demand. */
export { EventPages, walkEvents } from './event_pages.js';
export { SessionLists, walkSessions } from './session_lists.js';
export { readView } from './read_view.js';
export { MissingFunctionCalls } from './window.js';
