// The pages of a list. A token has the last key of its page, not an offset: a write between two pages neither repeats nor
// hides an item.

import { invalid } from './status.js';

export interface PageRequest {
  readonly size: number | undefined;
  readonly token: string | undefined;
  /** The other parameters of the list. A token is valid only for the same parameters. */
  readonly query: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken?: string;
}

/**
 * @param items all items in the list's order
 * @param beginsEmpty whether the first page is empty
 */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { size, token, query }: PageRequest,
  largest: number,
  beginsEmpty: boolean,
): Page<T> {
  if (size !== undefined && (!Number.isInteger(size) || size < 0)) {
    throw invalid(`Page size must be a non-negative number, but was ${size}.`);
  }
  // An empty token counts as absent.
  const isFirst = token === undefined || token === '';
  if (isFirst && beginsEmpty) return { items: [], nextPageToken: tokenOf(BEGIN, query) };
  const start = isFirst ? 0 : afterKey(items, keyOf, lastKeyOf(token, query));
  const end = start + Math.min(size === undefined || size === 0 ? largest : size, largest);
  const page = items.slice(start, end);
  const last = page.at(-1);
  if (last === undefined || end >= items.length) return { items: page };
  return { items: page, nextPageToken: tokenOf(keyOf(last), query) };
}

/** A key before all others. */
const BEGIN = '';

function tokenOf(lastKey: string, query: string): string {
  return Buffer.from(JSON.stringify([lastKey, query])).toString('base64');
}

function lastKeyOf(token: string, query: string): string {
  try {
    const [key, tokenQuery] = JSON.parse(Buffer.from(token, 'base64').toString()) as [
      string,
      string,
    ];
    if (tokenQuery === query) return key;
  } catch {
    // The token is malformed.
  }
  throw invalid('The page token is invalid or belongs to another request.');
}

function afterKey<T>(items: readonly T[], keyOf: (item: T) => string, key: string): number {
  if (key === BEGIN) return 0;
  const index = items.findIndex((item) => keyOf(item) === key);
  if (index === -1) throw invalid('The page token has expired.');
  return index + 1;
}
