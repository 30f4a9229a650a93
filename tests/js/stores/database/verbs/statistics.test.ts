// PostgreSQL without statistics, as after an import or a restore: it takes each table for few rows. What lists and searches
// read of many sessions must not depend on it.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { type RunSteps, storedWords } from '../../../../../js/stores/database/verbs/words.js';
import { sessionSearch } from '../../../../../js/service/search/index.js';
import { startPostgres } from '../servers.js';

/** So many that a nested loop over all pairs would be seen. */
const SESSIONS = 600;
const owner = { appName: 'app', userId: 'ada' };

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the number of rows that the nodes of a plan have passed or looked at. */
function rowsOf(node: PlanNode): number {
  const each =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), 0);
  return each * node['Actual Loops'] + below;
}

const server = await startPostgres();
const pool = new pg.Pool({ connectionString: `postgresql://adk@127.0.0.1:${server.port}/adk` });
const queries: { readonly text: string; readonly values: readonly unknown[] }[] = [];
const kysely = new Kysely<unknown>({
  dialect: new PostgresDialect({ pool }),
  log: ({ query: { sql: text, parameters: values } }) => void queries.push({ text, values }),
});

before(async () => {
  // Statistics that come by themselves would make the numbers others.
  await pool.query('alter system set autovacuum = off');
  await pool.query('select pg_reload_conf()');
  await using service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  await service.createSession({ ...owner, sessionId: 's0', title: 'Tea' });
  await pool.query(`
    insert into sessions select app_name, user_id, 's' || n, state, create_time, update_time
    from sessions, generate_series(1, ${SESSIONS}) as n`);
  await pool.query(`
    insert into adk_session_wasm_sessions (app_name, user_id, session_id, update_time, last_update_time, replaced_at)
    select app_name, user_id, id, update_time, update_time, null from sessions on conflict do nothing`);
  await pool.query(`
    insert into adk_session_wasm_details (app_name, user_id, session_id, create_time, title)
    select app_name, user_id, id, create_time, 'Tea' from sessions on conflict do nothing`);
  // Until a search has the words of all.
  const search = sessionSearch(service);
  for (let isComplete = false; !isComplete;) {
    ({ isComplete } = await search.find({ ...owner, query: 'tea', limit: 10 }));
  }
});
after(async () => {
  await kysely.destroy();
  await server.remove();
});

async function deleteStatistics(): Promise<void> {
  const tables = `select oid from pg_class where relnamespace = 'public'::regnamespace`;
  await pool.query(`delete from pg_statistic where starelid in (${tables})`);
  await pool.query(
    `update pg_class set reltuples = -1, relpages = 0 where relkind = 'r' and oid in (${tables})`,
  );
  // A connection keeps what it knows of tables.
  await Promise.all(Array.from({ length: 10 }, () => pool.query('discard plans')));
}

type Verb = (service: DatabaseSessionService) => Promise<unknown>;

/**
 * Returns the number of rows that the server looks at for the queries by which a program that has just started carries
 * out a verb.
 */
async function rowsRead(verb: Verb): Promise<number> {
  await using service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  await service.ping();
  queries.length = 0;
  await verb(service);
  let rows = 0;
  for (const { text, values } of queries.splice(0)) {
    if (!/^\s*select\b/.test(text) || /\bfor update\b|pg_stats/.test(text)) continue;
    const explained = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      [...values],
    );
    rows += rowsOf(explained.rows[0]!['QUERY PLAN'][0]!.Plan);
  }
  return rows;
}

const find: Verb = (service) => sessionSearch(service).find({ ...owner, query: 'tea', limit: 10 });

const verbs: Record<string, Verb> = {
  "a list of all of a user's sessions": (service) => service.listSessions(owner),
  'a list of all sessions of an app': (service) => service.listSessions({ appName: owner.appName }),
  'a search': find,
};

for (const [name, verb] of Object.entries(verbs)) {
  it(`${name} reads at most twice as many rows without statistics as with them`, async () => {
    await pool.query('analyze');
    const known = await rowsRead(verb);
    await deleteStatistics();
    const unknown = await rowsRead(verb);
    assert.ok(unknown <= 2 * known, `${unknown} rows, and ${known} with statistics`);
  });
}

it('a search gathers the statistics of all tables that it reads, once, and only of those without any', async () => {
  const gathered = () => queries.filter(({ text }) => text.startsWith('analyze'));
  await deleteStatistics();
  await rowsRead(async (service) => {
    await find(service);
    const tables = gathered().map(({ text }) => text.match(/"\w+"/g)?.join());
    assert.deepEqual(tables, [
      '"sessions","adk_session_wasm_sessions","adk_session_wasm_details","adk_session_wasm_search","events","user_states","app_states"',
    ]);
    await find(service);
    assert.equal(gathered().length, 1);
  });
  await rowsRead(async (service) => {
    await find(service);
    const empty = gathered().map(({ text }) => text.match(/"\w+"/g)?.join());
    assert.deepEqual(empty, ['"events"'], 'it has no rows');
  });
});

it('a search tells that statistics cannot be gathered, and finds what there is', async () => {
  const refused = new Error('refused');
  const results = [Promise.resolve({ sessions: [], isWhole: true, count: 500 }), refused];
  const run = () => {
    const result = results.shift();
    return result === refused ? Promise.reject(refused) : result;
  };
  const told: unknown[] = [];
  const words = storedWords(
    run as RunSteps,
    () => true,
    (error) => told.push(error),
  );
  const request = { ...owner, needles: ['tea'], least: 1, isRemembered: false };
  assert.deepEqual(await words.look(request), { sessions: [], isWhole: true });
  assert.deepEqual(told, [refused]);
});

it('an append finds each of its events by the index of their ids without statistics', async () => {
  await deleteStatistics();
  await using service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  const session = await service.getSession({ ...owner, sessionId: 's1' });
  assert.ok(session);
  queries.length = 0;
  const events = Array.from({ length: 500 }, () => ({ author: 'guide', invocationId: 'i' }));
  await service.appendEvents({ session, events });
  const finds = queries.filter(({ text }) => /^\s*select\b.*"id" (=|in)/s.test(text));
  const plans = finds.map(async ({ text, values }) => {
    const { rows } = await pool.query<object>(`explain (format json) ${text}`, [...values]);
    return JSON.stringify(rows);
  });
  const isScan = /"Node Type":"Seq Scan"[^{}]*"Relation Name":"events"/;
  const scans = (await Promise.all(plans)).filter((plan) => isScan.test(plan));
  assert.notEqual(finds.length, 0);
  assert.deepEqual(scans, []);
});
