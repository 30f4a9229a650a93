// What others write between two calls of a driver.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { numbers } from '../cases/concurrency.js';
import { sqliteDriver } from './sqlite_driver.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

describe('Between two calls of a driver', () => {
  it('Python may write a shared state twice in one second, and both writes stay', async () => {
    const database = new Sqlite(':memory:');
    const driver = sqliteDriver(database);
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    await service.createSession({ ...KEY, state: { 'user:a': 1 } });
    // Its times of these rows have whole seconds.
    const writeAsPython = (state: object): void => {
      database
        .prepare(`update user_states set state = ?, update_time = '2026-01-01 00:00:00'`)
        .run(JSON.stringify(state));
    };
    writeAsPython({ a: 1, py: 1 });
    const commit = driver.commit.bind(driver);
    let commits = 0;
    driver.commit = (guards, statements) => {
      if ((commits += 1) === 1) writeAsPython({ a: 1, py: 2 });
      return commit(guards, statements);
    };
    const { appName, userId } = KEY;
    await service.updateState({ appName, userId, stateDelta: { 'user:js': 1 } });
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.state, { 'user:a': 1, 'user:py': 2, 'user:js': 1 });
    assert.equal(commits, 2);
    await service.close();
  });

  it('sessions that are listed may change, and a list of all does not begin again', async () => {
    const database = new Sqlite(':memory:');
    const driver = sqliteDriver(database);
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    await service.createSession(KEY);
    for (const n of numbers(20)) await service.createSession({ ...KEY, sessionId: `s${n}` });
    const read = driver.read.bind(driver);
    let reads = 0;
    driver.read = async (statements) => {
      reads += 1;
      const rows = await read(statements);
      database.exec(`update sessions set update_time = '2026-01-01 00:00:00.00000${reads}'`);
      return rows;
    };
    const { sessions } = await service.listSessions({ appName: KEY.appName });
    assert.equal(sessions.length, 21);
    assert.equal(reads, 2);
    await service.close();
  });
});
