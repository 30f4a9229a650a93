import type { Event } from './event.js';

/** The member of `customMetadata` under which `adk api_server` keeps the id that a page has given its message. */
export const PAGE_MESSAGE = 'adk_session_wasm_message';

/** Returns the id that a page has given a message which `adk api_server` has stored under an id of its own. */
export function pageMessageOf({ author, customMetadata }: Event): string | undefined {
  // The agent's events have the member too.
  const id = author === 'user' ? customMetadata?.[PAGE_MESSAGE] : undefined;
  return typeof id === 'string' ? id : undefined;
}
