// Creates sessions with events until the page is gone, telling the server of each one that was acknowledged.

import {
  createEvent,
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
} from 'adk-session-wasm';
import { APP, keyOf } from '../events.js';
import { acknowledge } from '../site.js';

/** How many events a session begins with: all of them or none have to be there. */
export const CREATED_EVENTS = 1500;

export async function createForEver(
  options: IndexedDbSessionServiceOptions,
  run: string,
): Promise<void> {
  const service = new IndexedDbSessionService(options);
  for (let number = 0; ; number += 1) {
    const events = Array.from({ length: CREATED_EVENTS }, (_, at) =>
      createEvent({ id: `e${at}`, author: 'user', actions: { stateDelta: { at } } }),
    );
    // The events go with the creation, as importSession sends them.
    const creation = { ...keyOf(`${run}-${number}`), events };
    const { id } = await service.createSession(creation);
    acknowledge(id);
  }
}

/** How many sessions are created before they are deleted. */
const DELETED_SESSIONS = 6;

/** Creates sessions with events and deletes them until the page is gone, telling the server of each deletion. */
export async function deleteForEver(
  options: IndexedDbSessionServiceOptions,
  run: string,
): Promise<void> {
  const writer = new IndexedDbSessionService(options);
  const events = Array.from({ length: CREATED_EVENTS }, (_, at) =>
    createEvent({ id: `e${at}`, author: 'user', actions: { stateDelta: { at } } }),
  );
  for (let round = 0; ; round += 1) {
    for (let number = 0; number < DELETED_SESSIONS; number += 1) {
      const creation = { ...keyOf(`${run}-${round}-${number}`), events };
      await writer.createSession(creation);
    }
    const service = new IndexedDbSessionService(options);
    let deleted = 0;
    const stop = service.watch(
      { appName: APP },
      {
        onNotice: (notice) => {
          if (notice.type !== 'deleted' || notice.sessionId === undefined) return;
          deleted += 1;
          acknowledge(notice.sessionId);
        },
      },
    );
    const { sessions } = await service.listSessions({ appName: APP });
    await service.deleteSessions({ appName: APP });
    while (deleted < sessions.length) await new Promise((resolve) => setTimeout(resolve, 10));
    stop();
    await service.close();
  }
}

/** @returns of each stored session the number of its events, and the index of the last one by its state */
export async function readCreations(
  options: IndexedDbSessionServiceOptions,
): Promise<Record<string, [events: number, last: unknown]>> {
  const service = new IndexedDbSessionService(options);
  const found: Record<string, [number, unknown]> = {};
  for (const { id } of (await service.listSessions({ appName: APP })).sessions) {
    const session = await service.getSession(keyOf(id));
    found[id] = [session?.events.length ?? 0, session?.state.at];
  }
  await service.close();
  return found;
}
