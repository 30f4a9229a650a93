// What the tests of live stores share: a session with events, and waiting for a snapshot.

import type { NewEvent, Session } from '../../../../js/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import type { LiveSessionSnapshot, LiveStore } from '../../../../js/ui/live/index.js';
import { CORE } from '../../../../js/core/core_of.js';

export const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

export const message = (id: string, text = id): NewEvent => ({
  id,
  invocationId: 'i1',
  author: 'user',
  content: { role: 'user', parts: [{ text }] },
});

/** Appends `count` events, `e1` and so on. */
export async function fill(
  service: InMemorySessionService,
  session: Session,
  count: number,
): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => message(`e${index + 1}`));
  await service.appendEvents({ session, events });
}

/** Returns a service with one session of `count` events, and a handle of it. */
export async function sessionOf(count: number) {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  if (count > 0) await fill(service, session, count);
  return { service, session };
}

/** Resolves with the first snapshot that fulfils the condition, of those that a subscriber gets. */
export function snapshotOf<Snapshot>(
  store: LiveStore<Snapshot>,
  condition: (snapshot: Snapshot) => boolean,
): Promise<Snapshot> {
  return new Promise((resolve) => {
    const found: Snapshot[] = [];
    const stop = store.subscribe((snapshot) => {
      if (condition(snapshot)) found.push(snapshot);
      // The first call comes before there is a way to stop.
      if (found[0] !== undefined) queueMicrotask(() => stop());
      if (found[0] !== undefined) resolve(found[0]);
    });
  });
}

/** Whether anyone watches the service, a live store among them. */
export const isWatched = (service: InMemorySessionService): boolean =>
  service[CORE].publisher.hasReceivers;

export const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id);

export function textOf(
  event: LiveSessionSnapshot['events'][number] | undefined,
): string | undefined {
  return event?.content?.parts?.[0]?.text;
}

export const isReady = ({ status }: LiveSessionSnapshot): boolean => status === 'ready';
