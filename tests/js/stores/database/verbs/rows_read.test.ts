// The rows that MariaDB reads for a verb: they must not grow with the events and sessions outside of what is returned.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import mysql from 'mysql2/promise';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { ListSessionsRequest } from '../../../../../js/values/model/session_list.js';
import { cursorAt } from '../../../../../js/core/storage/reads/cursors.js';
import { startMariadb } from '../servers.js';

const EVENTS = 1000;
const key = { appName: 'app', userId: 'ada', sessionId: 's1' };

const server = await startMariadb();
const url = `mysql://adk@127.0.0.1:${server.port}/adk`;
const service = new DatabaseSessionService(url);
const connection = await mysql.createConnection({ uri: url });
after(async () => {
  await connection.end();
  await service.close();
  await server.remove();
});

/** One page of many sessions, all with a row in the side table: events are older than their appends. */
const list = { appName: 'listed', limit: 5, withTotal: false } as const;

/** On a busy machine, calls that wait for one of the ten connections together with thousands would reach their time limit. */
const AT_ONCE = 20;

/** Stores a session that had a row in the side table, until an append was later than all events before it. */
async function storeContinued(n: number): Promise<void> {
  const key = { appName: 'continued', userId: 'ada', sessionId: `s${n}` };
  const session = await service.createSession({ ...key, lastUpdateTime: n + 1 });
  await service.appendEvent({ session, event: { invocationId: 'i', timestamp: 0 } });
  await service.appendEvent({ session, event: { invocationId: 'i' } });
}

let [early, later] = ['', ''];
before(async () => {
  const session = await service.createSession(key);
  const events = Array.from({ length: EVENTS }, (_, n) => ({ id: `e${n}`, invocationId: 'i' }));
  await service.appendEvents({ session, events });
  const { after: end = '' } = await service.listEvents({ ...key, limit: 1 });
  early = cursorAt(key, end, 'e10');
  later = cursorAt(key, end, `e${EVENTS * 0.6}`);
  await connection.query(`
    insert into sessions (app_name, user_id, id, state, create_time, update_time)
      select 'listed', 'ada', concat('s', seq), '{}', '2024-01-01', timestampadd(second, seq, '2024-01-01')
      from seq_1_to_${EVENTS}`);
  await connection.query(`
    insert into adk_session_wasm_sessions (app_name, user_id, session_id, update_time, last_update_time)
      select app_name, user_id, id, update_time, timestampadd(microsecond, -3000, update_time)
      from sessions where app_name = 'listed'`);
  for (let first = 0; first < EVENTS; first += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => storeContinued(first + n)));
  }
  // The server does this by itself, but later.
  await connection.query('analyze table sessions, adk_session_wasm_sessions');
});

/** Returns the number of rows that the server reads while a verb runs. */
async function rowsRead(verb: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    // An attempt is a row of an index that MariaDB checks before it reads the whole row.
    const [rows] = await connection.query<mysql.RowDataPacket[]>(
      "show global status where variable_name rlike '^Handler_(read|icp_attempts)'",
    );
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  const start = await read();
  await verb();
  return (await read()) - start;
}

const verbs: Record<string, () => Promise<unknown>> = {
  'an append': async () => {
    const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    assert.ok(session);
    await service.appendEvent({ session, event: { id: 'new', invocationId: 'i' } });
  },
  'a page of events': () => service.listEvents({ ...key, limit: 5, withCount: false }),
  'a page before an early event': () =>
    service.listEvents({ ...key, before: early, limit: 5, withCount: false }),
  'a page after a later event': () =>
    service.listEvents({ ...key, after: later, limit: 5, withCount: false }),
  'the end of a session': () => service.getSession({ ...key, config: { numRecentEvents: 5 } }),
  'a page of all sessions': () => secondPage(list),
  "a page of a user's sessions": () => secondPage({ ...list, userId: 'ada' }),
  'a page of the last sessions': () => secondPage({ ...list, order: 'desc' }),
  'a page of continued sessions': () => secondPage({ ...list, appName: 'continued' }),
};

async function secondPage(request: ListSessionsRequest): Promise<void> {
  const { nextCursor: cursor } = await service.listSessions(request);
  const { sessions } = await service.listSessions({ ...request, cursor });
  assert.equal(sessions.length, request.limit);
}

for (const [name, verb] of Object.entries(verbs)) {
  it(`${name} does not read most of what there is`, async () => {
    const rows = await rowsRead(verb);
    assert.ok(rows < EVENTS / 2, `${rows} rows`);
  });
}

it('an append whose handle missed a replaced event reads all events', async () => {
  const config = { numRecentEvents: 0 };
  const [stale, other] = [
    await service.getSession({ ...key, config }),
    await service.getSession({ ...key, config }),
  ];
  assert.ok(stale && other);
  await service.appendEvent({ session: other, event: { id: 'e10', invocationId: 'replaced' } });
  const event = { id: 'late', invocationId: 'i' };
  const rows = await rowsRead(() => service.appendEvent({ session: stale, event }));
  assert.ok(rows >= EVENTS, `${rows} rows: docs/compatibility.md names a limit that is gone`);
});
