/**
 * The first base of a fetched copy. The transaction that makes the copy also stores its first base, in the copy. If the
 * tab crashes before it writes the base to the record, the fetched events do not look unsent.
 *
 * A copy keeps its first base as its initial state, which a fetched session does not have. The text of a first base is a
 * JSON array; that of an initial state is a JSON object.
 */
import { newEventId } from '../../model/event/create_event.js';
import type { Base } from './session_record.js';

/** The members of a base that are known before its copy is made. */
export type FirstBase = Pick<Base, 'created' | 'revision' | 'windowSize' | 'usedAt'>;

/** @param eventCount the number of events in the new copy */
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
 * @param copy the local revision that created the copy; its events have the revisions after that
 */
export function firstBaseOf(text: string, copy: number): Base {
  const [base, eventCount] = JSON.parse(text) as [FirstBase, number];
  return { ...base, id: newEventId(), copy, local: copy + eventCount };
}
