import { invalid, invalidValue } from '../../errors/invalid.js';
import { unknownMember } from './unknown_member.js';

/** The parameters that may be given several times: each is one element of a list. */
const LISTS: readonly string[] = ['label', 'stateKeys'];

/**
 * Takes the parameters of a query. Refuses one that is given twice: a proxy may have checked the other value.
 *
 * @param known names of the parameters that the route has
 * @param ignoresUnknown whether other parameters are left out; else they are refused
 * @throws SessionError `invalid_argument` for an unknown parameter, or one that is given twice
 */
export function takeParameters(
  query: URLSearchParams,
  known: readonly string[],
  ignoresUnknown: boolean,
): URLSearchParams {
  const taken = new URLSearchParams();
  for (const [name, value] of query) {
    if (!known.includes(name)) {
      if (ignoresUnknown) continue;
      throw unknownMember(name, known);
    }
    if (taken.has(name) && !LISTS.includes(name))
      throw invalid(name, 'is given twice in the query');
    taken.append(name, value);
  }
  return taken;
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
