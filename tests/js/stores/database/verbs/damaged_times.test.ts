// Rows whose times another program has damaged can be deleted, as the documentation of `corrupt_record` says.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();

const APP = { appName: 'app' };
const USER = { ...APP, userId: 'user' };
const KEY = { ...USER, sessionId: 's1' };
let count = 0;

/** A service over a file in which all times are damaged. */
async function damaged(): Promise<DatabaseSessionService> {
  const path = join(folder, `${++count}.db`);
  const service = new DatabaseSessionService(`sqlite:${path}`);
  await service.createSession({ ...KEY, state: { 'user:a': 1, 'app:a': 1 } });
  const other = new Sqlite(path);
  for (const table of ['sessions', 'user_states', 'app_states']) {
    other.exec(`update ${table} set update_time = 'damaged'`);
  }
  other.close();
  await assert.rejects(service.getSession(KEY), (error) => isSessionError(error, 'corrupt_record'));
  return service;
}

describe('A row with a damaged time', () => {
  it('of a session is deleted by deleteSession', async () => {
    await using service = await damaged();
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('of a session and of a user is deleted by deleteUser', async () => {
    await using service = await damaged();
    await service.deleteUser(USER);
    await service.deleteAppState(APP);
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(USER), {});
  });

  it('of a state is repaired by deleteUserState and deleteAppState', async () => {
    await using service = await damaged();
    await service.deleteUserState(USER);
    await service.deleteAppState(APP);
    assert.deepEqual(await service.getUserState(USER), {});
    assert.deepEqual(await service.getAppState(APP), {});
  });
});

it('an event with a damaged time is read in pages, measured, and given to a stale handle', async () => {
  const path = join(folder, 'event.db');
  await using service = new DatabaseSessionService(`sqlite:${path}`);
  const session = await service.createSession(KEY);
  for (const id of ['a', 'b']) await service.appendEvent({ session, event: eventOf(id) });
  const other = new Sqlite(path);
  other.exec("update events set timestamp = 'damaged' where id = 'a'");
  other.close();
  const { events } = await service.listEvents({ ...KEY, limit: 2 });
  // This text stands after all times, as it does for Python.
  assert.deepEqual(
    events.map(({ timestamp }) => timestamp),
    session.events.map(({ timestamp }) => timestamp).reverse(),
  );
  assert.equal((await service.sessionInfo(KEY)).eventCount, 2);
  const stale = await service.getSession(KEY);
  await service.appendEvent({ session, event: eventOf('c') });
  assert.ok(stale);
  await service.appendEvent({ session: stale, event: eventOf('d') });
  assert.deepEqual(
    stale.events.map(({ id }) => id),
    ['b', 'a', 'c', 'd'],
  );
});
