import type { Call } from '../call/call.js';
import { rewindTargetOf } from './marks.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { RewindStart } from '../read.js';
import type { Store } from '../storage/store.js';

/**
 * Finds where each rewind among some events of a session starts. Returns `undefined` without rewinds, and over a server
 * whose answer would have said it.
 */
export async function rewindStarts(
  store: Pick<Store, 'read' | 'traits'>,
  key: CompositeSessionKey,
  events: readonly Event[],
  call: Call,
): Promise<RewindStart[] | undefined> {
  const targets = rewindTargets(events);
  if (targets.size === 0 || store.traits.computesViews) return undefined;
  const read = { key, skipCorrupt: true };
  const markers = await store.read({ ...read, kind: 'markers' }, call);
  if (markers !== undefined) return startsIn(markers.events, targets);
  const session = await store.read({ ...read, last: 'all', kind: 'window' }, call);
  return session && startsIn(session.events, targets);
}

/** Returns the invocations that rewinds among events name. */
export function rewindTargets(events: readonly Event[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => rewindTargetOf(event) ?? []));
}

/**
 * Returns where rewinds before these invocations start.
 *
 * @param events all of a session, or those of `MarkerRows`
 */
export function startsIn(events: readonly Event[], targets: ReadonlySet<string>): RewindStart[] {
  const first = new Map<string, string>();
  for (const { id, invocationId } of events) {
    if (!first.has(invocationId)) first.set(invocationId, id);
  }
  return [...targets].map((invocationId) => ({ invocationId, eventId: first.get(invocationId) }));
}
