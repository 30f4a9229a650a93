import { isPlainObject } from '../../json/rules.js';
import type { Event } from './event.js';
import type { EventSnapshot } from './snapshot.js';

/**
 * The member of a stored event's `customMetadata` by which the append of a run's message recognises itself when it is
 * repeated. `src/wasm/bindings/appends.rs` has it too. google-adk's own keys begin so too; clients neither set nor see them.
 */
const CLAIM_MARK = '__adk_internal_run';

/** Returns the snapshot of a message with the mark of its run. Only the stored text has it. */
export function withClaimMark(snapshot: EventSnapshot, mark: string): EventSnapshot {
  const event = JSON.parse(snapshot.text) as Event;
  const { customMetadata } = event;
  const metadata = isPlainObject(customMetadata) ? customMetadata : {};
  event.customMetadata = { ...metadata, [CLAIM_MARK]: mark };
  return { ...snapshot, text: JSON.stringify(event) };
}

/** Removes the mark from an event that was parsed for a reader. */
export function withoutClaimMark(event: Event): Event {
  const metadata: unknown = event.customMetadata;
  if (!isPlainObject(metadata) || !Object.hasOwn(metadata, CLAIM_MARK)) return event;
  delete metadata[CLAIM_MARK];
  if (Object.keys(metadata).length === 0) delete event.customMetadata;
  return event;
}
