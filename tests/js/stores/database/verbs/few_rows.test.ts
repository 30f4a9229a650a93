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
