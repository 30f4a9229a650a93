/** Filters the sessions of a list by their titles and labels. */
import { invalid } from '../../values/errors/invalid.js';
import { parseLabels, takeDescription } from '../../values/model/description.js';
import type { ListFilter, ListSessionsRequest } from '../../values/model/session_list.js';
import { needlesOf, wordsOf } from '../../values/words.js';

/** The filters of a list, as texts. */
export interface SessionFilter extends Readonly<Record<ListFilter, string | undefined>> {
  /** Takes the stored texts of a session, which may be damaged. */
  readonly admits: (title: unknown, labels: unknown) => boolean;
}

/**
 * Takes the filter of a request.
 *
 * @returns `undefined` without one
 * @throws SessionError `invalid_argument` for a title or labels that no session can have
 */
export function takeFilter(
  given: Pick<ListSessionsRequest, ListFilter>,
): SessionFilter | undefined {
  const { title, labels } = takeDescription(given);
  if (!title && !labels) return undefined;
  const needles = needlesOf(title ?? '');
  if (title && needles.length === 0) throw invalid('title', 'must have a letter or a digit');
  const wanted = Object.entries(parseLabels(labels));
  return {
    title,
    labels,
    admits(title, labels) {
      if (needles.length > 0) {
        const words = typeof title === 'string' ? wordsOf(title) : '';
        if (!needles.every((needle) => words.includes(needle))) return false;
      }
      if (wanted.length === 0) return true;
      const present = parseLabels(labels);
      return wanted.every(([key, value]) => Object.hasOwn(present, key) && present[key] === value);
    },
  };
}
