// Markers are found by an index, also those that other programs have written.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { ENGINES } from '../../../../js/database/engines/engines.js';
import { mayBeMarker } from '../../../../js/database/tables/markers.js';
import { queryBuilder } from '../../../../js/database/tables/tables.js';
import { sqliteFiles } from '../../../interop/database/shared_databases.js';
import { startPostgres } from '../servers.js';

const EVENTS = 3000;
const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
const IS_OF_SESSION = "app_name = 'app' and user_id = 'ada' and session_id = 's1'";

/** Inserts the marker of a rewind, as another program would. */
const INSERT_MARKER = `insert into events select 'r1', app_name, user_id, session_id, 'r1', '2040-01-01 00:00:00.000000',
  '{"author": "user", "timestamp": 2208988800, "actions": {"rewind_before_invocation_id": "i2990"}}'
  from events where id = 'e1'`;

async function fill(service: DatabaseSessionService): Promise<void> {
  const session = await service.createSession(key);
  const events = Array.from({ length: EVENTS }, (_, n) => ({ id: `e${n}`, invocationId: `i${n}` }));
  await service.appendEvents({ session, events });
}

async function lastIds(service: DatabaseSessionService): Promise<string[]> {
  const config = { view: 'transcript', numRecentEvents: 3 } as const;
  return (await service.getSession({ ...key, config }))!.events.map(({ id }) => id);
}

function condition(kind: 'sqlite' | 'postgresql'): string {
  return mayBeMarker(ENGINES[kind]).compile(queryBuilder(ENGINES[kind])).sql;
}

describe('Markers are found by their index', () => {
  const newFile = sqliteFiles();

  it('on SQLite', async (test) => {
    const { ours } = await newFile();
    const service = new DatabaseSessionService(ours);
    await fill(service);
    const file = new SqliteDatabase(ours.slice('sqlite:'.length));
    test.after(async () => {
      file.close();
      await service.close();
    });
    file.exec(INSERT_MARKER);
    assert.deepEqual(await lastIds(service), ['e2987', 'e2988', 'e2989']);
    const query = `select * from events where ${IS_OF_SESSION} and ${condition('sqlite')}`;
    const plan = file.prepare<[], { detail: string }>(`explain query plan ${query}`).all();
    assert.match(plan[0]!.detail, /adk_session_wasm_markers/);
    assert.equal(file.prepare(query).all().length, 1);
  });

  it('on PostgreSQL', async (test) => {
    const server = await startPostgres();
    const url = `postgresql://adk@127.0.0.1:${server.port}/adk`;
    const service = new DatabaseSessionService(url);
    await fill(service);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    test.after(async () => {
      await client.end();
      await service.close();
      await server.remove();
    });
    await client.query(
      INSERT_MARKER.replace(/'(2040[^']*)'/, "timestamp '$1'").replace("}}'", "}}'::jsonb"),
    );
    assert.deepEqual(await lastIds(service), ['e2987', 'e2988', 'e2989']);
    await client.query('analyze events');
    const query = `explain select * from events where ${IS_OF_SESSION} and ${condition('postgresql')}`;
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(query);
    assert.match(rows.map((row) => row['QUERY PLAN']).join('\n'), /adk_session_wasm_markers/);
  });
});
