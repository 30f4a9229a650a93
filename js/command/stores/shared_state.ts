/** Merges states of users and apps, since the target may have some of their keys already. */
import { parseExactly, writeExactly } from '../../python/numbers.js';
import { canonicalText } from './fingerprint.js';

export interface StateMerge {
  /** JSON text of the target's new state; `undefined` if it does not change. */
  readonly state: string | undefined;
  /** JSON text of the keys that are set; `undefined` if there are none. */
  readonly added: string | undefined;
  /** The keys for which the target keeps another value. */
  readonly kept: readonly string[];
}

/**
 * Adds the source's keys to a state. Existing keys keep their values, unless `overwrite` is set.
 *
 * @param live JSON text of the target's state
 * @param given JSON text of the source's state
 * @param overwrite whether the source's values replace different ones
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
