/**
 * The first base of a fetched copy. The copy itself holds it, stored in the transaction that makes the copy: after a
 * crash before the base is noted, nothing that was fetched looks unsent.
 *
 * It takes the place of the session's initial state, which a fetched copy does not have. It is the text of an array, and
 * an initial state is one of an object.
 */
import { newEventId } from '../../model/event/create_event.js';
import type { Base } from './session_record.js';

/** What is known of a base before its copy is made. */
export type FirstBase = Pick<Base, 'created' | 'revision' | 'held' | 'usedAt'>;

/** @param eventCount the events that the copy is made with */
export function firstBaseText(base: FirstBase, eventCount: number): string {
  return JSON.stringify([base, eventCount]);
}

export function isFirstBase(text: string | null | undefined): text is string {
  return text?.startsWith('[') === true;
}

/**
 * Returns the first base of a copy.
 *
 * @param text a text for which {@link isFirstBase} is true
 * @param copy the local revision that created the copy; each event has the next one
 */
export function firstBaseOf(text: string, copy: number): Base {
  const [base, eventCount] = JSON.parse(text) as [FirstBase, number];
  return { ...base, id: newEventId(), copy, local: copy + eventCount };
}
