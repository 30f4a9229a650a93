/** Decides what a fetch asks the remote for. Reads and writes nothing. */
import type { Base } from '../records/session_record.js';

/** The least events of a copy that does not have all. */
const SMALLEST_WINDOW = 100;

/** The changes since the base, or a session with so many of its newest events; `Infinity`: with all. */
export type FetchPlan = 'changes' | number;

/**
 * @param hasCopy whether there is a copy; without a base, it was created here
 * @param need the newest events that the copy must have at least
 */
export function planOf(hasCopy: boolean, base: Base | undefined, need: number): FetchPlan {
  if (!hasCopy) return Math.max(need, SMALLEST_WINDOW);
  if (base === undefined) return Infinity;
  // Without revisions, the remote cannot tell what has changed.
  if (base.created !== null && isEnough(base, need)) return 'changes';
  return Math.max(need, base.windowSize ?? Infinity, SMALLEST_WINDOW);
}

/** Whether a copy with this base has so many of the newest events, and equals the remote at the base's revision. */
export function isEnough({ windowSize = Infinity, isStale }: Base, need: number): boolean {
  return isStale !== true && need <= windowSize;
}
