// Session files that go into one database, out of it as a stream, and into another.

import { IndexedDbSessionService } from 'adk-session-wasm';
import {
  exportSession,
  exportSessions,
  importSession,
  importSessions,
  type SessionFile,
} from 'adk-session-wasm/files';
import { keyOf } from '../events.js';

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
