// Rows that a verb must not read or leave.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { newFolder } from '../../../../new_folder.js';

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

it('listChanges has what is new after a burst of 3,000 events, and few of the events before', async () => {
  const service = new DatabaseSessionService('sqlite::memory:');
  const session = await service.createSession(KEY);
  const events = Array.from({ length: 3000 }, (_, n) => ({ id: `e${n}`, invocationId: 'i' }));
  await service.appendEvents({ session, events });
  const since = service.revisionOf(session)!;
  await service.appendEvent({ session, event: { id: 'new', invocationId: 'i' } });
  const changes = await service.listChanges({ ...KEY, since });
  assert.equal(changes.events?.at(-1)?.event.id, 'new');
  assert.ok(changes.events.length <= 101, `${changes.events.length} events`);
  assert.equal((await service.listChanges({ ...KEY, since: since - 2000 })).events, undefined);
  await service.close();
});

/** A database in memory that counts the rows that its statements return. */
function countingDatabase() {
  const database = new Sqlite(':memory:');
  const counts = { rows: 0 };
  const prepare = (text: string) => {
    const statement = database.prepare(text);
    return {
      reader: statement.reader,
      run: (values: unknown[]) => statement.run(values),
      iterate: (values: unknown[]) => statement.iterate(values),
      all(values: unknown[]) {
        const rows = statement.all(values);
        counts.rows += rows.length;
        return rows;
      },
    };
  };
  return { database, counts, handle: { prepare } as unknown as typeof database };
}

it('A stale append after an import of 3,000 events reads few of them, and the late event of another program', async () => {
  const { database, counts, handle } = countingDatabase();
  const service = new DatabaseSessionService({ sqlite: handle });
  const created = await service.createSession(KEY);
  const events = Array.from({ length: 3000 }, (_, n) => ({ id: `e${n}`, invocationId: 'i' }));
  await service.appendEvents({ session: created, events });
  const config = { numRecentEvents: 20 };
  const session = (await service.getSession({ ...KEY, config }))!;
  await service.appendEvent({ session: created, event: { id: 'other', invocationId: 'i' } });
  // Its clock is behind: the event stands between stored ones.
  database.exec(`
    insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
    select 'late', app_name, user_id, session_id, invocation_id, timestamp,
      json_remove(json_set(event_data, '$.id', 'late'), '$.adk_session_wasm')
    from events where id = 'e2990'`);
  counts.rows = 0;
  await service.appendEvent({ session, event: { id: 'new', invocationId: 'i' } });
  assert.ok(counts.rows < 110, `${counts.rows} rows`);
  assert.deepEqual(
    session.events.slice(20).map(({ id }) => id),
    ['late', 'other', 'new'],
  );
  await service.close();
});

it('listChanges has a replaced event once', async () => {
  const service = new DatabaseSessionService('sqlite::memory:');
  const session = await service.createSession(KEY);
  for (const id of ['e1', 'e2']) {
    await service.appendEvent({ session, event: { id, invocationId: 'i' } });
  }
  const since = service.revisionOf(session)!;
  await service.appendEvent({ session, event: { id: 'e1', invocationId: 'replaced' } });
  const { events } = await service.listChanges({ ...KEY, since });
  assert.equal(events?.filter(({ event }) => event.id === 'e1').length, 1);
  await service.close();
});

it('deleteAppState and deleteUserState leave no rows in a SQLite file without sessions, and empty ones with sessions', async () => {
  const path = join(newFolder(), 'few.db');
  const service = new DatabaseSessionService(`sqlite:${path}`);
  const reader = new Sqlite(path);
  const deleteStates = async (): Promise<unknown[]> => {
    await service.deleteUserState(USER);
    await service.deleteAppState({ appName: 'app' });
    const states = 'select state from app_states union all select state from user_states';
    return reader.prepare(states).pluck().all();
  };
  const state = { 'app:n': 1, 'user:n': 1 };
  const session = await service.createSession({ ...KEY, state });
  assert.deepEqual(await deleteStates(), ['{}', '{}']);
  await service.deleteSession(KEY);
  assert.deepEqual(await deleteStates(), []);
  const again = await service.createSession({ ...KEY, state });
  assert.ok(service.revisionOf(again)! > service.revisionOf(session)!);
  assert.deepEqual(again.state, state);
  reader.close();
  await service.close();
});
