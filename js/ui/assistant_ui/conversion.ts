/** Messages as events and back. Loaded with the first thread: a page begins with a list of threads. */
export { appendAfter } from './append_after.js';
export { emptied, eventsOf } from './events_of_message.js';
export { messagesOf } from './messages_of_events.js';
export { viewOf } from '../../core/history/view.js';
