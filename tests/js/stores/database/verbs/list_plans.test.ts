// The indices by which SQLite reads a page of sessions: its cost must not grow with the sessions outside of the page.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { ListSessionsRequest } from '../../../../../js/index.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();

/** How SQLite reads a page of sessions: one line for each visit of a table of sessions. */
async function visits(request: Partial<ListSessionsRequest>): Promise<string[]> {
  const path = join(folder, 'sessions.db');
  const queries: string[] = [];
  const verbose = (query: string): number => queries.push(query);
  const service = new DatabaseSessionService(`sqlite:${path}`, { driverOptions: { verbose } });
  for (const userId of ['ada', 'bob']) {
    await service.createSession({ appName: 'app', userId });
  }
  queries.length = 0;
  await service.listSessions({ appName: 'app', ...request });
  await service.close();
  const database = new Sqlite(path);
  const plans = queries
    .filter((query) => query.startsWith('select'))
    .flatMap((query) => database.prepare(`explain query plan ${query}`).all())
    .map((step) => (step as { detail: string }).detail);
  database.close();
  return plans.filter((step) => /^(?:SCAN|SEARCH) (?:session|side)\b|USE TEMP B-TREE/.test(step));
}

for (const [order, orderBy] of [
  ['asc', undefined],
  ['desc', undefined],
  ['asc', 'createTime'],
  ['desc', 'createTime'],
] as const) {
  it(`a page of one user's sessions (${order}, by ${orderBy ?? 'default'}) visits no session of another user`, async () => {
    const steps = await visits({ userId: 'ada', order, orderBy, limit: 1 });
    assert.ok(steps.length >= 3, steps.join('\n'));
    for (const step of steps) assert.match(step, /\(app_name=\? AND user_id=\?/);
  });
}

it("a page of all users' sessions visits only those of one app, and sorts nothing", async () => {
  for (const orderBy of ['lastUpdateTime', 'createTime'] as const) {
    const steps = await visits({ order: 'desc', orderBy, limit: 1 });
    assert.ok(steps.length >= 3, steps.join('\n'));
    for (const step of steps) assert.match(step, /\(app_name=\?/);
  }
});
