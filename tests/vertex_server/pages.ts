// A list's pages. A token says where the last page ended, not how many were before it: what is written between two pages
// neither repeats an item nor hides one that was there.

import { invalid } from './status.js';

export interface PageRequest {
  readonly size: number | undefined;
  readonly token: string | undefined;
  /** What else was asked; a token holds for the same question only. */
  readonly question: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken?: string;
}

/**
 * @param items all of them, in the list's order
 * @param beginsEmpty whether the first page has none of them
 */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { size, token, question }: PageRequest,
  largest: number,
  beginsEmpty: boolean,
): Page<T> {
  if (size !== undefined && (!Number.isInteger(size) || size < 0)) {
    throw invalid(`Page size must be a non-negative number, but was ${size}.`);
  }
  // Empty is the same as not given.
  const isFirst = token === undefined || token === '';
  if (isFirst && beginsEmpty) return { items: [], nextPageToken: tokenOf(BEGIN, question) };
  const start = isFirst ? 0 : afterKey(items, keyOf, lastKeyOf(token, question));
  const end = start + Math.min(size === undefined || size === 0 ? largest : size, largest);
  const page = items.slice(start, end);
  const last = page.at(-1);
  if (last === undefined || end >= items.length) return { items: page };
  return { items: page, nextPageToken: tokenOf(keyOf(last), question) };
}

/** In the place of a key, before all of them. */
const BEGIN = '';

function tokenOf(lastKey: string, question: string): string {
  return Buffer.from(JSON.stringify([lastKey, question])).toString('base64');
}

function lastKeyOf(token: string, question: string): string {
  try {
    const [key, asked] = JSON.parse(Buffer.from(token, 'base64').toString()) as [string, string];
    if (asked === question) return key;
  } catch {
    // Not one of ours.
  }
  throw invalid('The page token is invalid or belongs to another request.');
}

function afterKey<T>(items: readonly T[], keyOf: (item: T) => string, key: string): number {
  if (key === BEGIN) return 0;
  const index = items.findIndex((item) => keyOf(item) === key);
  if (index === -1) throw invalid('The page token has expired.');
  return index + 1;
}
