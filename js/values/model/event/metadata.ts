/** The members that this package alone adds to the metadata of events. */
import { isPlainObject } from '../../json/rules.js';
import type { Event } from './event.js';
import type { EventSnapshot } from './snapshot.js';

/**
 * The member of a stored event's `customMetadata` by which the append of a run's message recognises itself when it is
 * repeated. `src/wasm/bindings/appends.rs` has it too. google-adk's own keys begin so too; clients neither set nor see
 * them.
 */
const IDEMPOTENCY_KEY = '__adk_internal_run';

/** Returns the snapshot of a message with the idempotency key of its run. Only the stored text has it. */
export function withIdempotencyKey(snapshot: EventSnapshot, key: string): EventSnapshot {
  const event = JSON.parse(snapshot.text) as Event;
  const { customMetadata } = event;
  const metadata = isPlainObject(customMetadata) ? customMetadata : {};
  event.customMetadata = { ...metadata, [IDEMPOTENCY_KEY]: key };
  return { ...snapshot, text: JSON.stringify(event) };
}

/** Removes the idempotency key from an event that was parsed for a reader. */
export function withoutIdempotencyKey(event: Event): Event {
  const metadata: unknown = event.customMetadata;
  if (!isPlainObject(metadata) || !Object.hasOwn(metadata, IDEMPOTENCY_KEY)) return event;
  delete metadata[IDEMPOTENCY_KEY];
  if (Object.keys(metadata).length === 0) delete event.customMetadata;
  return event;
}

/** The member of `customMetadata` under which `adk api_server` keeps the id that a page has given its message. */
export const PAGE_MESSAGE = 'adk_session_wasm_message';

/** Returns the id that a page has given a message which `adk api_server` has stored under an id of its own. */
export function pageMessageOf({ author, customMetadata }: Event): string | undefined {
  // The agent's events have the member too.
  const id = author === 'user' ? customMetadata?.[PAGE_MESSAGE] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The member of `customMetadata` in which the event of a run that has failed keeps the codes of what was thrown. */
export const RUN_ERROR = 'adk_session_wasm_error';
