// Appends until the page is gone, telling the server of each append that was acknowledged.

import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
  type Session,
} from 'adk-session-wasm';
import { APP, idsOf, keyOf, mark, USER } from '../events.js';
import { acknowledge } from '../site.js';

export const SESSIONS = ['one', 'two'];
/** How many events a batch has: all of them or none have to be there. */
export const BATCH = 3;

/** The stored events and keys by session, and the keys of the other scopes. */
export interface Stored {
  sessions: Record<string, { events: string[]; keys: string[] }>;
  userKeys: string[];
  appKeys: string[];
  total: number;
}

/** Runs several lanes concurrently, each with one pending append: to one session, to two, and batches. */
export async function burst(options: IndexedDbSessionServiceOptions, run: string): Promise<void> {
  const service = new IndexedDbSessionService(options);
  const [one, two] = await Promise.all(
    SESSIONS.map((sessionId) => service.getOrCreateSession(keyOf(sessionId))),
  );
  const lane = (name: string, session: Session, size: number) =>
    appendForEver(service, session, `${run}:${name}`, size);
  await Promise.all([
    lane('a', one!, 1),
    lane('b', one!, 1),
    lane('c', two!, 1),
    lane('d', two!, BATCH),
  ]);
}

async function appendForEver(
  service: IndexedDbSessionService,
  session: Session,
  prefix: string,
  size: number,
): Promise<void> {
  for (let number = 0; ; number += 1) {
    const ids = Array.from({ length: size }, (_, place) => `${prefix}:${number}:${place}`);
    const [event, ...more] = ids.map(mark);
    if (more.length === 0) await service.appendEvent({ session, event: event! });
    else await service.appendEvents({ session, events: [event!, ...more] });
    acknowledge(ids.join('\n'));
  }
}

export async function readStored(options: IndexedDbSessionServiceOptions): Promise<Stored> {
  const service = new IndexedDbSessionService(options);
  const sessions: Stored['sessions'] = {};
  for (const sessionId of SESSIONS) {
    const session = await service.getSession(keyOf(sessionId));
    if (session === undefined) continue;
    const keys = Object.keys(session.state).filter((key) => !/^(user|app):/.test(key));
    sessions[sessionId] = { events: idsOf(session), keys };
  }
  const stored = {
    sessions,
    userKeys: Object.keys(await service.getUserState({ appName: APP, userId: USER })),
    appKeys: Object.keys(await service.getAppState({ appName: APP })),
    total: (await service.listSessions({ appName: APP })).totalItems,
  };
  await service.close();
  return stored;
}
