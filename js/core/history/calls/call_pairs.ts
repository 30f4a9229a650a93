/** Function calls and their responses in lists of events. */
import type { Part } from '../../../values/model/event/content.js';
import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';

/**
 * Returns where a window may begin so that no response in it lacks its call.
 *
 * @param start where it would begin otherwise; not above the result
 */
export function pairedStart(events: readonly Event[], start: number): number {
  const awaited = new Set<string>();
  let paired = events.length;
  for (let position = events.length - 1; position >= 0; position -= 1) {
    if (position < start && awaited.size === 0) break;
    const parts = partsOf(events[position]);
    for (const part of parts) awaited.add(responseId(part));
    for (const part of parts) awaited.delete(callId(part));
    awaited.delete('');
    paired = position;
  }
  // A response without a call must not widen the window to all events.
  return awaited.size === 0 ? paired : Math.max(0, start);
}

/** Returns the positions at which no page may begin, because a response after them has its call before them. */
export function positionsInPairs(events: readonly Event[]): number[] {
  const calls = new Map<string, number>();
  /** For each position the first position of the calls that are answered there. */
  const firsts = events.map((event, position) => {
    const parts = partsOf(event);
    const first = Math.min(
      position,
      ...parts.map((part) => calls.get(responseId(part)) ?? position),
    );
    for (const part of parts) if (callId(part) !== '') calls.set(callId(part), position);
    return first;
  });
  const positions: number[] = [];
  let first = events.length;
  for (let position = events.length - 1; position >= 0; position -= 1) {
    first = Math.min(first, firsts[position]!);
    if (first < position) positions.push(position);
  }
  return positions;
}

/** Returns whether a response is among the events from a position on whose call is not among all events before it. */
export function hasResponseWithoutCall(events: readonly Event[], from: number): boolean {
  const calls = new Set<string>(['']);
  return events.some((event, position) => {
    const parts = partsOf(event);
    const lacksCall = parts.some((part) => !calls.has(responseId(part)));
    for (const part of parts) calls.add(callId(part));
    return lacksCall && position >= from;
  });
}

/**
 * Returns the ids of function calls whose responses are in `events`, and whose calls are not in
 * `others`.
 */
export function missingCalls(events: readonly Event[], others: readonly Event[]): Set<string> {
  const missing = new Set<string>();
  for (const event of events) for (const part of partsOf(event)) missing.add(responseId(part));
  missing.delete('');
  // From the end, since the call mostly lies in the event just before.
  for (let position = others.length - 1; position >= 0 && missing.size > 0; position -= 1) {
    for (const part of partsOf(others[position])) missing.delete(callId(part));
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
