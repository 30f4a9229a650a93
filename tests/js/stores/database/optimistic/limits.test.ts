// What a driver of lists of statements is sent, and what it is not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import {
  D1SessionService,
  DatabaseSessionService,
  type OptimisticDriver,
} from '../../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../../js/service/search/index.js';
import { eventOf, numbers } from '../cases/concurrency.js';
import { sqliteDriver } from './sqlite_driver.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
const LIMITS = { maxParameters: 100, maxRowBytes: 2_000_000 };

describe('A driver of lists of statements', () => {
  it('gets no row above its limit: a large event or state fails with quota_exceeded', async () => {
    const driver = { ...sqliteDriver(new Sqlite(':memory:')), limits: LIMITS };
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    const session = await service.createSession(KEY);
    const { commit } = driver;
    driver.commit = () => assert.fail('it was written');
    // Two bytes each in UTF-8.
    const text = 'é'.repeat(1_000_000);
    const refused = { code: 'quota_exceeded' };
    const large = { ...eventOf('e1'), content: { role: 'user', parts: [{ text }] } };
    await assert.rejects(service.appendEvent({ session, event: large }), refused);
    for (const key of ['own', 'user:key', 'app:key']) {
      const other = { ...KEY, sessionId: 'other', state: { [key]: text } };
      await assert.rejects(service.createSession(other), refused);
    }
    driver.commit = commit;
    const parts = [{ text: text.slice(0, 990_000) }];
    await service.appendEvent({ session, event: { ...eventOf('e2'), content: { parts } } });
    await service.close();
  });

  it('gets no statement with more values than its limit', async () => {
    const driver = { ...sqliteDriver(new Sqlite(':memory:')), limits: LIMITS };
    let most = 0;
    const { read, commit } = driver;
    driver.read = (statements) => {
      most = Math.max(most, ...statements.map(({ values }) => values.length));
      return read(statements);
    };
    driver.commit = (guards, statements) => {
      most = Math.max(most, ...[...guards, ...statements].map(({ values }) => values.length));
      return commit.call(driver, guards, statements);
    };
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    const session = await service.createSession(KEY);
    await service.appendEvents({ session, events: numbers(300).map((n) => eventOf(`e${n}`)) });
    for (const n of numbers(150)) {
      await service.createSession({ ...KEY, userId: `u${n}` });
    }
    const { sessions } = await service.listSessions({ appName: 'app' });
    assert.equal(sessions.length, 151);
    assert.ok(most > 50 && most <= 100, String(most));
    await service.close();
  });

  it('is tried until timeoutMs if others change the session each time: storage_blocked', async () => {
    const driver = sqliteDriver(new Sqlite(':memory:'));
    const service = new DatabaseSessionService({ driver, engine: 'sqlite', timeoutMs: 1_000 });
    const session = await service.createSession(KEY);
    let tried = 0;
    driver.commit = () => Promise.resolve((tried += 1) < 0);
    await assert.rejects(service.appendEvent({ session, event: eventOf('e1') }), {
      code: 'storage_blocked',
    });
    assert.ok(tried > 1);
    await service.close();
  });

  it('that answers nothing to a commit fails the call with connection_lost: it may be stored', async () => {
    const driver = sqliteDriver(new Sqlite(':memory:'));
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    const session = await service.createSession(KEY);
    driver.commit = () => Promise.reject(new TypeError('fetch failed'));
    await assert.rejects(service.appendEvent({ session, event: eventOf('e1') }), {
      code: 'connection_lost',
      message: /may be stored/,
    });
    await service.close();
  });

  it('is opened once for all services that have it', async () => {
    const driver = sqliteDriver(new Sqlite(':memory:'));
    await new DatabaseSessionService({ driver, engine: 'sqlite' }).createSession(KEY);
    let reads = 0;
    const { read } = driver;
    driver.read = (statements) => {
      reads += 1;
      return read(statements);
    };
    const second = new DatabaseSessionService({ driver, engine: 'sqlite' });
    assert.ok(await second.getSession(KEY));
    assert.equal(reads, 1);
  });

  it('must have its functions and an engine, or the constructor throws invalid_argument', () => {
    const refused = { code: 'invalid_argument' };
    const driver = {} as OptimisticDriver;
    assert.throws(() => new DatabaseSessionService({ driver, engine: 'sqlite' }), refused);
    const mysql = { driver: sqliteDriver(new Sqlite(':memory:')), engine: 'mysql' as 'sqlite' };
    assert.throws(() => new DatabaseSessionService(mysql), refused);
    assert.throws(() => new D1SessionService(undefined as never), refused);
  });

  it('has the rows of searches within its limits, also for a query of many words', async () => {
    const driver = { ...sqliteDriver(new Sqlite(':memory:')), limits: LIMITS };
    const service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    for (const n of numbers(40)) {
      const session = await service.createSession({ ...KEY, sessionId: `s${n}` });
      const text = n % 2 === 0 ? '녹차 추천' : `green tea ${n}`;
      await service.appendEvent({ session, event: { ...eventOf('e1'), content: text } });
    }
    const { appName, userId } = KEY;
    const search = sessionSearch(service);
    const find = async (query: string) => {
      const { hits, isComplete } = await search.find({ appName, userId, query, limit: 100 });
      assert.ok(isComplete);
      return hits.length;
    };
    assert.equal(await find('녹차 추천'), 20);
    const words = numbers(95).map((n) => `word${n}`);
    assert.equal(await find(words.slice(0, 60).join(' ')), 0);
    const memory = search.asMemoryService();
    const query = ['tea', ...words].join(' ');
    assert.equal((await memory.searchMemory({ appName, userId, query })).memories.length, 20);
    await service.deleteSession({ ...KEY, sessionId: 's0' });
    await service.deleteSession({ ...KEY, sessionId: 's1' });
    assert.equal((await find('녹차')) + (await find('tea')), 38);
    await service.close();
  });
});
