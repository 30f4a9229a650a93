import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf } from '../cases/concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 's' };

it('a session on SQLite inherits no details from one that was deleted without foreign keys', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'details-'));
  const file = join(folder, 'sessions.db');
  const service = new DatabaseSessionService(`sqlite:///${file}`);
  try {
    const labels = { kind: 'old' };
    await service.createSession({ ...KEY, title: 'Old', labels, state: { old: true } });
    const other = new Sqlite(file);
    other.pragma('foreign_keys = off');
    other.prepare('delete from sessions').run();
    const count = other.prepare('select count(*) as rows from adk_session_wasm_details');
    assert.deepEqual(count.get(), { rows: 1 });
    await service.createSession({ ...KEY, state: { fresh: true } });
    assert.deepEqual(count.get(), { rows: 1 });
    other.close();
    const { title, labels: stored, initialState } = await service.sessionInfo(KEY);
    assert.deepEqual([title, stored, initialState], [undefined, undefined, { fresh: true }]);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

it('a session on SQLite can be created although the side table has a row of a deleted one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'side-'));
  const file = join(folder, 'sessions.db');
  let now = 1_700_000_000_000;
  const service = new DatabaseSessionService(`sqlite:///${file}`, { clock: () => now });
  try {
    const session = await service.createSession(KEY);
    // Two events of one time: the session gets a row in the side table.
    for (const id of ['a', 'b']) {
      await service.appendEvent({ session, event: { ...eventOf(id), timestamp: now } });
    }
    const other = new Sqlite(file);
    other.pragma('foreign_keys = off');
    other.exec('delete from events; delete from sessions');
    const count = other.prepare('select count(*) as rows from adk_session_wasm_sessions');
    assert.deepEqual(count.get(), { rows: 1 });
    other.close();
    // The clock is behind the last deletion, so the new session needs such a row too.
    await service.createSession({ ...KEY, sessionId: 'other' });
    await service.deleteSession({ ...KEY, sessionId: 'other' });
    now -= 1000;
    await service.createSession(KEY);
    assert.equal((await service.getSession(KEY))?.lastUpdateTime, now);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

it('a session on SQLite has no events of one that was deleted without foreign keys', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'events-'));
  const file = join(folder, 'sessions.db');
  const service = new DatabaseSessionService(`sqlite:///${file}`);
  try {
    const old = await service.createSession(KEY);
    for (const id of ['a', 'b']) await service.appendEvent({ session: old, event: eventOf(id) });
    const other = new Sqlite(file);
    other.pragma('foreign_keys = off');
    other.prepare('delete from sessions').run();
    other.close();
    await service.createSession({ ...KEY, events: [eventOf('b')] });
    const session = await service.getSession(KEY);
    assert.deepEqual(
      session?.events.map(({ id }) => id),
      ['b'],
    );
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});
