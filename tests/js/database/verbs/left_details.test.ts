import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../js/database/index.js';

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
