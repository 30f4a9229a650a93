import { requireObject } from '../../values/errors/option_values.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import type { ExpectedEvents } from '../../values/model/session.js';
import { isRevision } from '../../core/storage/checked_rows.js';

/**
 * Takes the option `expectedEvents` of an append.
 *
 * @throws SessionError `invalid_argument` for a value that is no revision, or an id that no event has
 */
export function takeExpectedEvents(
  given: ExpectedEvents | null | undefined,
  events: readonly { readonly id: string }[],
): ExpectedEvents | undefined {
  if (given === undefined || given === null) return undefined;
  requireObject(NAME, given);
  const entries = Object.entries(given);
  for (const [id, revision] of entries) {
    if (!events.some((event) => event.id === id))
      throw invalid(NAME, `has the id ${JSON.stringify(id)}, which no event has`);
    if (revision === null || (isRevision(revision) && revision > 0)) continue;
    throw invalidValue(`${NAME}[${JSON.stringify(id)}]`, 'must be a revision or null', revision);
  }
  return Object.fromEntries(entries);
}

const NAME = 'expectedEvents';
