/** The terms by which storages find sessions: the words of titles, and labels. */
import { parseLabels } from './description.js';

/** Columns of databases hold no longer terms. */
const MAX_TERM = 64;

/** Returns the words of a title, folded so that upper and lower case are the same. */
export function wordsOf(title: unknown): string[] {
  if (typeof title !== 'string') return [];
  return (
    title
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/**
 * Returns the terms of a title and labels, each once. A session that a filter admits has for each term of the
 * filter a term that begins with it. Some sessions that it does not admit may have them too.
 *
 * @param title a title, which may be damaged
 * @param labels the JSON of labels, which may be damaged
 */
export function termsOf(title: unknown, labels: unknown): string[] {
  // No key and no value has a `=`, so a label begins no other label.
  const all = Object.entries(parseLabels(labels)).map(([key, value]) => `${key}=${value}=`);
  for (const word of wordsOf(title)) all.push([...word].slice(0, MAX_TERM).join(''));
  return [...new Set(all)];
}
