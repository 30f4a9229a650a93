import type { LiveSessionsRequest } from '../../live/index.js';
import type { SessionChanges } from '../../../values/model/session.js';

/** What a user types to find sessions. */
export interface FilterTexts {
  readonly title: string;
  /** `pinned=yes topic=tea` */
  readonly labels: string;
  /** The id or a part of it. */
  readonly id: string;
}

/** Sessions that are read at first, and by each further step. */
export const SESSION_PAGE = 50;

/**
 * Reads labels as a user types them: `key=value`, separated by spaces or commas.
 *
 * @throws SyntaxError if one has no `=`
 */
export function parseLabels(text: string): Record<string, string> {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const entries = words.map((word): [string, string] => {
    const [key = '', ...value] = word.split('=');
    if (value.length === 0) throw new SyntaxError('Labels are written as key=value.');
    return [key, value.join('=')];
  });
  return Object.fromEntries(entries);
}

/** Writes labels as {@link parseLabels} reads them. */
export function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

/**
 * Returns the changes that a user has typed. What is `undefined` was not typed, and stays as others may have set it.
 *
 * @throws SyntaxError as `parseLabels`
 */
export function changesOf(title: string | undefined, labels: string | undefined): SessionChanges {
  const parsed = parseLabels(labels ?? '');
  return {
    ...(title !== undefined && { title: title === '' ? null : title }),
    ...(labels !== undefined && { labels: Object.keys(parsed).length === 0 ? null : parsed }),
  };
}

/** Returns the request of the list. @throws SyntaxError as `parseLabels` */
export function listRequest(
  appName: string,
  userId: string,
  { title, labels }: FilterTexts,
): LiveSessionsRequest {
  const parsed = parseLabels(labels);
  return {
    appName,
    limit: SESSION_PAGE,
    stateKeys: [],
    ...(userId !== '' && { userId }),
    ...(title.trim() !== '' && { title }),
    ...(Object.keys(parsed).length > 0 && { labels: parsed }),
  };
}
