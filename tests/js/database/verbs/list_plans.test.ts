// The indices by which SQLite reads a page of sessions: its cost must not grow with the sessions outside of the page.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import type { ListSessionsRequest } from '../../../../js/index.js';

const folder = mkdtempSync(join(tmpdir(), 'adk-session-wasm-plans-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** How SQLite reads a page of sessions: one line for each visit of a table of sessions. */
async function visits(request: Partial<ListSessionsRequest>): Promise<string[]> {
  const path = join(folder, 'sessions.db');
  const queries: string[] = [];
  const verbose = (query: string): number => queries.push(query);
  const service = new DatabaseSessionService(`sqlite:${path}`, { driverOptions: { verbose } });
  for (const userId of ['ada', 'bob']) {
    await service.createSession({ appName: 'app', userId, title: 'Tea', labels: { kind: 'a' } });
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
  return plans.filter((step) =>
    /^(?:SCAN|SEARCH) (?:session|side|entry|other|matching)\b|USE TEMP B-TREE/.test(step),
  );
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

for (const userId of [undefined, 'ada']) {
  it(`a page by title and labels (${userId ?? 'all users'}) finds the sessions by an index of terms`, async () => {
    const request = { title: 'te', labels: { kind: 'a' }, limit: 1, ...(userId && { userId }) };
    const steps = await visits(request);
    const visitsOf = (table: string) => steps.filter((step) => step.includes(` ${table} `));
    assert.equal(visitsOf('entry').length, 2, steps.join('\n'));
    const range = userId ? /\(app_name=\? AND user_id=\? AND term>\? AND term<\?/ : /\(app_name=\? AND term>\? AND term<\?/; // prettier-ignore
    for (const step of visitsOf('entry')) assert.match(step, range);
    for (const step of visitsOf('other'))
      assert.match(step, /session_id=\? AND term>\? AND term<\?/);
    assert.equal(visitsOf('session').length, 2);
    for (const step of visitsOf('session'))
      assert.match(step, /\(app_name=\? AND user_id=\? AND id=\?/);
  });
}

it('a page by a label that many sessions have reads the list in its order', async () => {
  const path = join(folder, 'frequent.db');
  const queries: string[] = [];
  const verbose = (query: string): number => queries.push(query);
  const service = new DatabaseSessionService(`sqlite:${path}`, { driverOptions: { verbose } });
  const user = { appName: 'app', userId: 'ada' };
  await service.createSession({ ...user, sessionId: 's0', labels: { kind: 'a', n: '0' } });
  const database = new Sqlite(path);
  for (const [table, id, columns] of [
    ['sessions', 'id', 'app_name, user_id, state, create_time, update_time'],
    ['adk_session_wasm_details', 'session_id', 'app_name, user_id, create_time, labels'],
    ['adk_session_wasm_terms', 'session_id', 'app_name, user_id, term'],
  ] as const) {
    database.exec(`
      insert into ${table} (${id}, ${columns})
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 5100)
        select 's' || n, ${columns} from numbers join ${table} on ${id} = 's0'
          ${table.endsWith('terms') ? "and term = 'kind=a='" : ''}`);
  }
  database.close();
  const find = async (labels: Record<string, string>) => {
    queries.length = 0;
    const { sessions } = await service.listSessions({ ...user, labels, limit: 3 });
    const isByTerm = queries.some((query) => query.includes('"adk_session_wasm_terms" as "entry"'));
    return { ids: sessions.map(({ id }) => id), isByTerm };
  };
  const frequent = await find({ kind: 'a' });
  assert.equal(frequent.ids.length, 3);
  assert.equal(frequent.isByTerm, false);
  // The rarest term decides.
  assert.deepEqual(await find({ kind: 'a', n: '0' }), { ids: ['s0'], isByTerm: true });
  queries.length = 0;
  assert.equal(await service.deleteSessions({ ...user, labels: { n: '0' } }), 1);
  const lists = queries.filter((query) => /^select\b.*\blimit \S+$/s.test(query));
  assert.ok(lists.length > 0);
  for (const query of lists) assert.match(query, /"adk_session_wasm_terms" as "entry"/);
  await service.close();
});
