import { SHARED_SCOPES } from '../../state/scope.js';
import type { Operation } from './records.js';

/** Whether two operations change the same key of a shared state. */
export function isOverlapping(one: Operation, other: Operation): boolean {
  return SHARED_SCOPES.some((scope) => {
    const [left, right] = [one.shared[scope], other.shared[scope]];
    if (left === undefined || right === undefined) return false;
    const isSameOwner =
      one.key.appName === other.key.appName &&
      (scope === 'app' || one.key.userId === other.key.userId);
    if (!isSameOwner) return false;
    if (left.isCleared || right.isCleared) return true;
    const keys = new Set(left.values.map(([key]) => key));
    return right.values.some(([key]) => keys.has(key));
  });
}
