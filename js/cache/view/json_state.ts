import { defineMember } from '../../members/member.js';
import { REMOVED } from '../../state/scope.js';

/** A JSON object. */
export type JsonState = Record<string, unknown>;

/** Applies a change of one key. */
export function applyValue(state: JsonState, key: string, value: unknown): void {
  if (value === REMOVED) Reflect.deleteProperty(state, key);
  else defineMember(state, key, value);
}
