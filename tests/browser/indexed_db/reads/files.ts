// Session files that go into one database, out of it as a stream, and into another.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import {
  exportSession,
  exportSessions,
  importSession,
  importSessions,
  type SessionFile,
} from 'adk-session-wasm/files';
import { type Context, inTab, newName } from '../context.js';
import { keyOf } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { restore };
type Page = typeof inPage;

export function files(context: Context): void {
  it('a file of page records survives import and export, with a state that no delta explains', async () => {
    const events = Array.from({ length: 300 }, (_, at) => ({
      id: `e${at}`,
      timestamp: 1.7e12 + at + 0.125,
      my_field: { event: at },
      actions: { stateDelta: at % 2 === 0 ? { count: at, gone: at } : {} },
    }));
    const file = {
      id: 'one',
      appName: 'shop',
      userId: 'ada',
      state: { count: 'by hand', first: 1, 'user:name': 'Ada', 'app:motd': 'hi' },
      events,
      lastUpdateTime: 1.7e12 + 400,
    };
    await inTab<Page>(context, async (tab) => {
      const { exported, outcomes } = await tab.call('restore', newName(), file);
      assert.deepEqual(exported, [file, file]);
      // The app's state, the user's, and the session.
      assert.equal(outcomes, 3);
    });
  });
}

interface Restored {
  /** The session in the first database, and in the second, read by services that found them there. */
  exported: [SessionFile, SessionFile];
  outcomes: number;
}

/** Imports a file into the database `name`, and all of that into another. */
async function restore(name: string, file: SessionFile): Promise<Restored> {
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
