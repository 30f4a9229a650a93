/** Merges states of users and apps, since the target may have some of their keys already. */
import { parseExactly, writeExactly } from '../../python/numbers.js';
import { canonicalText } from './fingerprint.js';

export interface StateMerge {
  /** JSON text of the target's new state; `undefined` if it does not change. */
  readonly state: string | undefined;
  /** JSON text of the keys that are set; `undefined` if there are none. */
  readonly added: string | undefined;
  /** The keys for which the target keeps another value. */
  readonly conflictingKeys: readonly string[];
}

/**
 * Adds the source's keys to a state. Existing keys keep their values, unless `overwrite` is set.
 *
 * @param storedState JSON text of the target's state
 * @param sourceState JSON text of the source's state
 * @param overwrite whether the source's values replace different ones
 */
export function mergeState(
  storedState: string,
  sourceState: string,
  overwrite: boolean,
): StateMerge {
  const merged = new Map(
    Object.entries(parseExactly(storedState) as object) as [string, unknown][],
  );
  const added: [string, unknown][] = [];
  const conflictingKeys: string[] = [];
  for (const [key, value] of Object.entries(parseExactly(sourceState) as object)) {
    const exists = merged.has(key);
    if (exists && canonicalText(merged.get(key)) === canonicalText(value)) continue;
    if (exists && !overwrite) conflictingKeys.push(key);
    else added.push([key, value]);
  }
  if (added.length === 0) return { state: undefined, added: undefined, conflictingKeys };
  for (const [key, value] of added) merged.set(key, value);
  return {
    state: writeExactly(Object.fromEntries(merged)),
    added: writeExactly(Object.fromEntries(added)),
    conflictingKeys,
  };
}
