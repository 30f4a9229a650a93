import { rewindTargetOf } from '../../history/marks.js';
import type { Event } from '../../model/event/event.js';
import type { OlderInvocations } from '../../storage/backend.js';
import type { CacheStorage } from './cache_storage.js';

/**
 * Returns which invocations begin before the events of a copy that has not all, so far as its rewinds name them. An
 * invocation may have events before the copy and in it. So only the remote knows where it begins, but for a rewind of
 * this device: the place of such a rewind is in the copy.
 */
export function olderInvocations(
  events: readonly Event[],
  { isOwn }: Pick<CacheStorage, 'isOwn'>,
): OlderInvocations {
  const here = new Set<unknown>();
  const older = new Set<string>();
  let areKnown = true;
  for (const event of events) {
    here.add(event.invocationId);
    const target = rewindTargetOf(event);
    if (target === undefined || (isOwn(event.id) && here.has(target))) continue;
    older.add(target);
    areKnown = false;
  }
  return { ids: [...older], areKnown };
}
