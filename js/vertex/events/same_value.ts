import { isSameJson } from '../../wasm/core.js';

/** Whether two JSON values are the same, in whatever order their keys are: the server keeps none. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return isSameJson(JSON.stringify(one), JSON.stringify(other));
}
