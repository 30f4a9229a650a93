// Session files that go into one database, out of it as a stream, and into another.

import { IndexedDbSessionService } from 'adk-session-wasm';
import {
  exportSession,
  exportSessions,
  importSession,
  importSessions,
  type SessionFile,
} from 'adk-session-wasm/files';
import { idsOf, keyOf } from './events.js';

export interface Restored {
  /** The session in the first database, and in the second, read by services that found them there. */
  exported: [SessionFile, SessionFile];
  outcomes: number;
}

/** Imports a file into the database `name`, and all of that into another. */
export async function restore(name: string, file: SessionFile): Promise<Restored> {
  const first = new IndexedDbSessionService({ name });
  await importSession(first, file);
  await first.close();
  const source = new IndexedDbSessionService({ name });
  const copy = new IndexedDbSessionService({ name: `${name} copy` });
  const { appName } = keyOf('');
  let outcomes = 0;
  for await (const { error } of importSessions(copy, exportSessions(source, { appName }))) {
    if (error !== undefined) throw error;
    outcomes += 1;
  }
  const exported = [
    await exportSession(source, keyOf('one')),
    await exportSession(copy, keyOf('one')),
  ];
  await source.close();
  await copy.close();
  return { exported: exported as [SessionFile, SessionFile], outcomes };
}

function longFile(count: number): SessionFile {
  const { appName, userId, sessionId: id } = keyOf('one');
  const events = Array.from({ length: count }, (_, at) => {
    return { id: `e${at}`, author: 'user', timestamp: 1.7e12 + at, actions: {} };
  });
  return { id, appName, userId, events };
}

/** Imports events, and never returns after the first batch: the page ends before. */
export async function importAndStop(name: string, count: number): Promise<number> {
  const service = new IndexedDbSessionService({ name });
  return new Promise((resolve, reject) => {
    const onProgress = ({ stored }: { stored: number }): Promise<void> => {
      resolve(stored);
      return new Promise(() => undefined);
    };
    importSession(service, longFile(count), { onProgress }).catch(reject);
  });
}

/** @returns the ids of the stored events, before the import and after it */
export async function importAgain(name: string, count: number): Promise<[string[], string[]]> {
  const service = new IndexedDbSessionService({ name });
  const before = idsOf(await service.getSession(keyOf('one')));
  await importSession(service, longFile(count));
  const after = idsOf(await service.getSession(keyOf('one')));
  await service.close();
  return [before, after];
}
