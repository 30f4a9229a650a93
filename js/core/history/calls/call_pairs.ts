/** Function calls and their responses in lists of events. */
import type { Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';

/**
 * Returns the ids of function calls whose responses are in `events`, and whose calls are not in
 * `others`.
 */
export function missingCalls(events: readonly Event[], others: readonly Event[]): Set<string> {
  const missing = new Set<string>();
  for (const event of events) for (const part of partsOf(event)) missing.add(responseId(part));
  missing.delete('');
  // From the end, since the call mostly lies in the event just before.
  for (let index = others.length - 1; index >= 0 && missing.size > 0; index -= 1) {
    for (const part of partsOf(others[index])) missing.delete(callId(part));
  }
  return missing;
}

/** Returns the call's id, or `''` if it has none: nothing could match it to a response. */
export function callId({ functionCall }: Part): string {
  return idOrEmpty(functionCall);
}

/** Returns the id of a response's call, or `''`. */
export function responseId({ functionResponse }: Part): string {
  return idOrEmpty(functionResponse);
}

function idOrEmpty(value: { id?: unknown } | null | undefined): string {
  return typeof value?.id === 'string' ? value.id : '';
}
