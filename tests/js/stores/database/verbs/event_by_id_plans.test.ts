// The index by which PostgreSQL finds an event of a long session by its id. The planner knows only the sessions of
// its last `analyze`. If these are short, it takes every session for a short one.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { startPostgres } from '../servers.js';

const server = await startPostgres();
after(() => server.remove());

it('an event is found by its id alone, and not among all events of its session', async (test) => {
  const pool = new pg.Pool({ connectionString: `postgresql://adk@127.0.0.1:${server.port}/adk` });
  const queries: { sql: string; parameters: readonly unknown[] }[] = [];
  const kysely = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void queries.push(query),
  });
  const service = new DatabaseSessionService({ kysely, engine: 'postgresql' });
  test.after(async () => {
    await service.close();
    await kysely.destroy();
  });
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
  const session = await service.createSession(key);
  await fillWithShortSessions(kysely);
  const events = ['e1', 'e2', 'e3'].map((id) => ({ id, invocationId: 'i' }));
  await service.appendEvents({ session, events });

  /** Runs a verb, and returns the indices by which its statements find events by an id. */
  const indicesOf = async (verb: () => Promise<unknown>) => {
    queries.length = 0;
    await verb();
    const found: string[] = [];
    for (const { sql: text, parameters } of queries.filter(({ sql: text }) =>
      text.includes('"events"'),
    )) {
      if (!/^(?:select|update)/.test(text)) continue;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [
        ...parameters,
      ]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      const lookups = plan.matchAll(/using (\w*events\w*) on .*\n *Index Cond: .*\(id\)::text = /g);
      found.push(...[...lookups].map(([, index]) => index!));
    }
    return found;
  };

  const { before } = await service.listEvents({ ...key, limit: 1 });
  assert.deepEqual(await indicesOf(() => service.listEvents({ ...key, before })), ['events_pkey']);
  const event = { id: 'e4', invocationId: 'i' };
  assert.deepEqual(await indicesOf(() => service.appendEvent({ session, event })), ['events_pkey']);
  const replaced = { ...event, content: { role: 'model', parts: [{ text: 'tea' }] } };
  assert.deepEqual(await indicesOf(() => service.appendEvent({ session, event: replaced })), [
    'events_pkey',
    'events_pkey',
  ]);
});

async function fillWithShortSessions(kysely: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`insert into sessions (app_name, user_id, id, state, create_time, update_time)
      select 'app', 'u' || n, 's' || n, '{}', now(), now() from generate_series(1, 3000) as n`,
    sql`insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
      select 'e' || n, 'app', 'u' || n, 's' || n, 'i', now(), '{}' from generate_series(1, 3000) as n`,
    sql`analyze`,
  ]) {
    await statement.execute(kysely);
  }
}
