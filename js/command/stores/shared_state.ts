/** Users' and apps' states, of which the target may have one already. */
import { parseExactly, writeExactly } from '../../python/numbers.js';
import { canonicalText } from './fingerprint.js';

export interface StateMerge {
  /** JSON text of what the target's state becomes; `undefined`: it stays. */
  readonly state: string | undefined;
  /** The same of the keys alone that are set. */
  readonly added: string | undefined;
  /** The keys that the target has with another value, and keeps. */
  readonly kept: readonly string[];
}

/**
 * Adds to a state the keys that it lacks.
 *
 * @param live JSON text of the target's
 * @param given JSON text of the source's
 * @param overwrite whether the source's values replace others
 */
export function mergeState(live: string, given: string, overwrite: boolean): StateMerge {
  const there = new Map(Object.entries(parseExactly(live) as object) as [string, unknown][]);
  const added: [string, unknown][] = [];
  const kept: string[] = [];
  for (const [key, value] of Object.entries(parseExactly(given) as object)) {
    const isThere = there.has(key);
    if (isThere && canonicalText(there.get(key)) === canonicalText(value)) continue;
    if (isThere && !overwrite) kept.push(key);
    else added.push([key, value]);
  }
  if (added.length === 0) return { state: undefined, added: undefined, kept };
  for (const [key, value] of added) there.set(key, value);
  return {
    state: writeExactly(Object.fromEntries(there)),
    added: writeExactly(Object.fromEntries(added)),
    kept,
  };
}
