import { openSessionService, type StorageInfo } from 'adk-session-wasm';
import { idsOf, keyOf, mark } from '../events.js';

/** The task of a realm. */
export interface Task {
  name: string;
  sessionId: string;
}

export interface Done {
  storage: StorageInfo;
  events: string[];
  /** The kind of the realm, as it reports it. */
  scope: string;
}

export async function work({ name, sessionId }: Task): Promise<Done> {
  const service = await openSessionService({ storage: 'auto', name });
  const session = await service.createSession(keyOf(sessionId));
  await service.appendEvent({ session, event: mark(`${sessionId} 1`) });
  await service.appendEvents({ session, events: ['2', '3'].map((n) => mark(`${sessionId} ${n}`)) });
  const events = idsOf(await service.getSession(keyOf(sessionId)));
  const { storage } = service;
  await service.close();
  return { storage, events, scope: globalThis.constructor.name };
}
