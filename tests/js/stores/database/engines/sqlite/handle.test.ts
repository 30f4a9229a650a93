// A connection to SQLite that the caller opens and closes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../../js/service/database/index.js';
import { conforms } from '../../../../conforms.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

conforms('a handle of better-sqlite3', (options) => {
  return new DatabaseSessionService({ ...options, sqlite: new Sqlite(':memory:') });
});

describe('A handle of better-sqlite3', () => {
  it('stays open when the service closes, with its own settings', async () => {
    const sqlite = new Sqlite(':memory:');
    const settings = () => ['foreign_keys', 'synchronous'].map((name) => sqlite.pragma(name));
    sqlite.pragma('foreign_keys = off');
    sqlite.pragma('synchronous = off');
    const before = settings();
    const service = new DatabaseSessionService({ sqlite });
    await service.createSession(KEY);
    await service.close();
    assert.deepEqual(settings(), before);
    assert.equal(sqlite.prepare('select count(*) from sessions').pluck().get(), 1);
    sqlite.close();
  });

  it("keeps its owner's open transaction when a call of the service fails in it", async () => {
    const sqlite = new Sqlite(':memory:');
    const service = new DatabaseSessionService({ sqlite });
    await service.ping();
    sqlite.exec('create table own (value)');
    sqlite.exec('begin');
    sqlite.exec('insert into own values (1)');
    await assert.rejects(service.createSession(KEY), { code: 'storage_failed' });
    sqlite.exec('commit');
    assert.equal(sqlite.prepare('select value from own').pluck().get(), 1);
    await service.createSession(KEY);
    await service.close();
    sqlite.close();
  });

  it('must be a synchronous connection, or the constructor throws invalid_argument', () => {
    for (const sqlite of [undefined, 'sessions.db', {}, { sql: {}, transactionSync: String }]) {
      const options = { sqlite } as unknown as { sqlite: Sqlite.Database };
      assert.throws(() => new DatabaseSessionService(options), { code: 'invalid_argument' });
    }
  });
});
