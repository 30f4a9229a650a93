import { invalidValue } from '../../errors/invalid.js';
import { unknownMember } from '../../call/known_options.js';

/** @throws SessionError `invalid_argument` if the query has an unknown parameter */
export function requireKnownParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw unknownMember(name, known);
  }
}

/** Returns a text, or `undefined` if the query does not have it. */
export function textIn(query: URLSearchParams, name: string): string | undefined {
  return query.get(name) ?? undefined;
}

/**
 * Returns a whole number from 0, or `undefined` if the query does not have it.
 *
 * @throws SessionError `invalid_argument` if it is anything else
 */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = textIn(query, name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d{1,16}$/.test(text)) return number;
  throw invalidValue(name, 'must be a whole number', text);
}

/**
 * Returns a time in seconds or milliseconds, or `undefined` if the query does not have it.
 *
 * @throws SessionError `invalid_argument` if it is anything else
 */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = textIn(query, name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw invalidValue(name, 'must be a time since 1970', text);
}

/**
 * Returns one of the words, or `undefined` if the query does not have it.
 *
 * @throws SessionError `invalid_argument` if it is anything else
 */
export function wordIn<Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = textIn(query, name);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw invalidValue(name, `must be ${words.join(' or ')}`, text);
}

/**
 * Returns whether a flag is `true`, or `undefined` if the query does not have it.
 *
 * @throws SessionError `invalid_argument` if it is neither `true` nor `false`
 */
export function flagIn(query: URLSearchParams, name: string): boolean | undefined {
  const word = wordIn(query, name, ['true', 'false']);
  return word && word === 'true';
}
