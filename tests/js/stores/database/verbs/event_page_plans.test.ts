// The index by which SQLite reads a page of events: its cost must not grow with the events outside of the page.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();

it('a page of events reads a range of the index of their order, and sorts nothing', async () => {
  const path = join(folder, 'events.db');
  const queries: string[] = [];
  const verbose = (query: string): number => queries.push(query);
  const service = new DatabaseSessionService(`sqlite:${path}`, { driverOptions: { verbose } });
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
  const session = await service.createSession(key);
  const events = ['e1', 'e2', 'e3'].map((id) => ({ id, invocationId: 'i' }));
  await service.appendEvents({ session, events });
  const { before, after } = await service.listEvents({ ...key, limit: 1 });
  for (const [place, condition] of [
    [{ before }, 'timestamp<?'],
    [{ after }, 'timestamp>?'],
  ] as const) {
    queries.length = 0;
    await service.listEvents({ ...key, limit: 1, withCount: false, ...place });
    const database = new Sqlite(path);
    const page = queries.filter((query) => /\blimit \S+$/.test(query));
    assert.equal(page.length, 1, queries.join('\n'));
    const steps = database.prepare(`explain query plan ${page[0]}`).all();
    database.close();
    const [first, ...others] = steps.map((step) => (step as { detail: string }).detail);
    assert.ok(first?.includes(`session_id=? AND ${condition}`), first);
    assert.ok(!others.some((step) => /SCAN events|TEMP B-TREE/.test(step)), others.join('\n'));
  }
  await service.close();
});
