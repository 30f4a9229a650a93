import { rewindTargetOf } from '../../history/marks.js';
import type { Event } from '../../model/event/event.js';
import type { CacheStorage } from './cache_storage.js';

/**
 * Returns the invocations that rewinds in a copy without older events name, and that begin before it, or may. An
 * invocation may have events before the copy and in it. So only the remote knows where it begins, but for a rewind of
 * this device: the place of such a rewind is in the copy.
 */
export function olderInvocations(
  events: readonly Event[],
  { isOwn }: Pick<CacheStorage, 'isOwn'>,
): string[] {
  const here = new Set<unknown>();
  const older = new Set<string>();
  for (const event of events) {
    here.add(event.invocationId);
    const target = rewindTargetOf(event);
    const isHere = isOwn(event.id) && here.has(target);
    if (target !== undefined && !isHere) older.add(target);
  }
  return [...older];
}
