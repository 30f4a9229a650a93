// Markers are found by their index, also those that other programs have written. The first events that rewinds name are
// searched for once.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

import { coreOf } from '../../../../../js/core/core_of.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { sqliteFiles } from '../../../../interop/database/shared_databases.js';
import { startPostgres } from '../servers.js';

const EVENTS = 3000;
const key = { appName: 'app', userId: 'ada', sessionId: 's1' };

/** Inserts the marker of a rewind, as another program would. */
const INSERT_MARKER = `insert into events select 'r1', app_name, user_id, session_id, 'r1', '2040-01-01 00:00:00.000000',
  '{"author": "user", "timestamp": 2208988800, "actions": {"rewind_before_invocation_id": "i2990"}}'
  from events where id = 'e1'`;

async function fill(service: DatabaseSessionService): Promise<void> {
  const session = await service.createSession(key);
  const events = Array.from({ length: EVENTS }, (_, n) => ({ id: `e${n}`, invocationId: `i${n}` }));
  await service.appendEvents({ session, events });
}

async function lastIds(service: DatabaseSessionService, count: number): Promise<string[]> {
  const config = { view: 'transcript', numRecentEvents: count } as const;
  return (await service.getSession({ ...key, config }))!.events.map(({ id }) => id);
}

/**
 * Reads a view before and after an append.
 *
 * @param planOf explains a statement
 */
async function readsByIndices(
  service: DatabaseSessionService,
  takeQueries: () => readonly string[],
  planOf: (query: string) => Promise<string>,
): Promise<void> {
  takeQueries();
  const last = ['e2987', 'e2988', 'e2989'];
  assert.deepEqual(await lastIds(service, 3), last);
  const isOfMarkers = (query: string) => query.includes('%mpaction%');
  const isScan = (query: string) => query.includes('row_number');
  const searched = takeQueries().filter(isOfMarkers);
  assert.deepEqual(searched.map(isScan), [false, true]);

  const session = (await service.getSession({ ...key, config: { numRecentEvents: 0 } }))!;
  await service.appendEvent({ session, event: { id: 'later', invocationId: 'later' } });
  takeQueries();
  assert.deepEqual(await lastIds(service, 4), [...last, 'later']);
  const queries = takeQueries().filter(isOfMarkers);
  assert.deepEqual(queries.map(isScan), [false]);
  for (const query of [searched[0]!, queries[0]!]) {
    const plan = await planOf(query);
    assert.match(plan, /adk_session_wasm_markers/);
    // The events that are known by their ids are not searched for in the session.
    assert.match(plan, /events_pkey|sqlite_autoindex_events_1/);
    assert.doesNotMatch(plan, /SCAN events|Seq Scan on events|idx_events_app_user_session/);
  }
}

describe('Markers are found by their index', () => {
  const newFile = sqliteFiles();

  /** Opens a filled file, with the statements that its service runs. */
  async function openFile(test: TestContext) {
    const { ours } = await newFile();
    const queries: string[] = [];
    const verbose = (query: string) => void queries.push(query);
    const service = new DatabaseSessionService(ours, { driverOptions: { verbose } });
    await fill(service);
    const file = new SqliteDatabase(ours.slice('sqlite:'.length));
    test.after(async () => {
      file.close();
      await service.close();
    });
    file.exec(INSERT_MARKER);
    return { service, file, queries };
  }

  it('on SQLite', async (test) => {
    const { service, file, queries } = await openFile(test);
    const planOf = (query: string) => {
      const steps = file.prepare<[], { detail: string }>(`explain query plan ${query}`).all();
      return Promise.resolve(steps.map(({ detail }) => detail).join('\n'));
    };
    await readsByIndices(service, () => queries.splice(0), planOf);
  });

  it('and first events that requests name by turns are searched for once', async (test) => {
    const { service, queries } = await openFile(test);
    for (const invocationId of ['i10', 'i20', 'i10', 'i20']) {
      const found = await coreOf(service).callStore({}, (store) =>
        store.read({ kind: 'markers', key, invocationId }, {}),
      );
      assert.ok(found!.events.some((event) => event.invocationId === invocationId));
    }
    assert.equal(queries.filter((query) => query.includes('row_number')).length, 2);
  });

  it('on PostgreSQL', async (test) => {
    const server = await startPostgres();
    const pool = new pg.Pool({ connectionString: `postgresql://adk@127.0.0.1:${server.port}/adk` });
    const queries: string[] = [];
    const parametersOf = new Map<string, readonly unknown[]>();
    const kysely = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool }),
      log({ query: { sql, parameters } }) {
        queries.push(sql);
        parametersOf.set(sql, parameters);
      },
    });
    const service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
    test.after(async () => {
      await service.close();
      await kysely.destroy();
      await server.remove();
    });
    await fill(service);
    await pool.query(
      INSERT_MARKER.replace(/'(2040[^']*)'/, "timestamp '$1'").replace("}}'", "}}'::jsonb"),
    );
    await pool.query('analyze events');
    const planOf = async (query: string) => {
      const parameters = [...(parametersOf.get(query) ?? [])];
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${query}`, parameters);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    await readsByIndices(service, () => queries.splice(0), planOf);
  });
});
