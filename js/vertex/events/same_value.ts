import { isSameJson } from '../../wasm/core.js';

/** Returns whether two JSON values are equal, whatever the order of their keys: the server keeps no key order. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return isSameJson(JSON.stringify(one), JSON.stringify(other));
}
