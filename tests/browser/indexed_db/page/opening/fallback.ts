// Places in which IndexedDB may not work.

import { IndexedDbSessionService, openSessionService, type StorageInfo } from 'adk-session-wasm';
import { failure, idsOf, keyOf, mark } from '../events.js';

export interface OpenResult {
  storage: StorageInfo;
  events: string[];
}

/** Opens whatever works, and appends one more event to the session in it. */
export async function openAuto(name = 'auto'): Promise<OpenResult> {
  const service = await openSessionService({ storage: 'auto', name });
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark(`event-${session.events.length}`) });
  const events = idsOf(await service.getSession(keyOf('one')));
  const { storage } = service;
  await service.close();
  return { storage, events };
}

/** The codes with which an explicit choice of IndexedDB fails: opened, and constructed. */
export async function openExplicitly(name = 'explicit'): Promise<string[]> {
  const opened = await failure(async () => {
    const service = await openSessionService({ storage: 'indexeddb', name });
    await service.createSession(keyOf('one'));
  });
  const service = new IndexedDbSessionService({ name });
  const constructed = await failure(() => service.createSession(keyOf('one')));
  await service.close();
  return [opened.code, constructed.code];
}
