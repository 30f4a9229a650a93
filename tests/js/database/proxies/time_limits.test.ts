// Frozen servers, locks of other transactions, and aborted calls: every call ends, and its error says what is known.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createConnection, createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { isSessionError, type SessionErrorCode } from '../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, type Server, startMariadb, startPostgres } from '../servers.js';
import { type FreezingProxy, startFreezingProxy } from './freezing_proxy.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
const SHORT = { timeoutMs: 500 };
/** For tests that would otherwise wait forever for a lock. */
const HANGS = { timeout: 60_000 };

async function rejects(call: Promise<unknown>, code: SessionErrorCode, message = /./) {
  await assert.rejects(call, (error) => {
    assert.ok(isSessionError(error, code), inspect(error));
    assert.match(error.message, message);
    return true;
  });
}

/** Runs statements one after the other on its own connection. */
interface Session {
  query(sql: string): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
}

const ENGINES = {
  postgresql: {
    start: startPostgres,
    /** The request of a commit; the begin says `read committed`. */
    commit: 'commit\0',
    one: { max: 1 },
    // Calls wait for a connection only as long as this, and an append for the lock longer.
    exhausted: { max: 1, connectionTimeoutMillis: 300 },
    hold: ['begin', 'select * from sessions for update'],
    release: ['rollback'],
    kysely: (port: number): Kysely<unknown> => {
      const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'adk', database: 'adk' });
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      return new Kysely({ dialect: new PostgresDialect({ pool }) });
    },
    async session(port: number): Promise<Session> {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'adk', database: 'adk' });
      await client.connect();
      return {
        query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
        end: () => client.end(),
      };
    },
    transactions: `select count(*) as count from pg_stat_activity where state <> 'idle' and pid <> pg_backend_pid() and datname = 'adk'`,
    refuse: `create function refuse() returns trigger language plpgsql as $$ begin
        if new.id = 'refused' then raise exception 'refused'; end if; return new; end $$;
      create trigger refuses before insert on events for each row execute function refuse()`,
    sleep: `create function sleep() returns trigger language plpgsql as $$ begin
        perform pg_sleep(600); return new; end $$;
      create trigger sleeps before insert on events for each row execute function sleep()`,
  },
  mysql: {
    start: startMariadb,
    commit: '\x03commit',
    one: { connectionLimit: 1 },
    exhausted: { connectionLimit: 1 },
    // Each statement ends in time, but together they take longer than a call waits for a connection.
    hold: [
      'create trigger slow_event before insert on events for each row do sleep(1.2)',
      'create trigger slow_session before update on sessions for each row do sleep(1.2)',
    ],
    release: ['drop trigger slow_event', 'drop trigger slow_session'],
    kysely: (port: number): Kysely<unknown> => {
      const pool = createPool({ host: '127.0.0.1', port, user: 'adk', database: 'adk' });
      return new Kysely({ dialect: new MysqlDialect({ pool }) });
    },
    async session(port: number): Promise<Session> {
      const connection = createConnection({
        host: '127.0.0.1',
        port,
        user: 'adk',
        database: 'adk',
      }).promise();
      await connection.connect();
      return {
        query: async (sql) => (await connection.query(sql))[0] as Record<string, unknown>[],
        end: () => connection.end(),
      };
    },
    transactions: 'select count(*) as count from information_schema.innodb_trx',
    sleep: `create trigger sleeps before insert on events for each row do sleep(600)`,
    refuse: `create trigger refuses before insert on events for each row
      if new.id = 'refused' then signal sqlstate '45000' set message_text = 'refused'; end if`,
  },
};

for (const kind of ['postgresql', 'mysql'] as const) {
  const engine = ENGINES[kind];
  describe(`On ${kind}`, () => {
    let server: Server;
    let proxy: FreezingProxy;
    const services: DatabaseSessionService[] = [];
    before(async () => (server = await engine.start()));
    after(() => server.remove());
    beforeEach(async () => {
      await emptied(kind === 'mysql' ? 'mariadb' : kind, server);
      proxy = await startFreezingProxy(server.port);
    });
    afterEach(async () => {
      for (const service of services.splice(0)) await service.close();
      await proxy.close();
    });

    const open = (options: object = SHORT): DatabaseSessionService => {
      const url = `${kind}://adk@127.0.0.1:${proxy.port}/adk`;
      const service = new DatabaseSessionService(url, options);
      services.push(service);
      return service;
    };

    /** The stored events and state. */
    async function stored(service: DatabaseSessionService) {
      const session = await service.getSession(KEY);
      return { ids: session?.events.map(({ id }) => id), n: session?.state.n };
    }

    it('an append to a frozen server times out, and its retry is stored once', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      proxy.freeze('all');
      const notSent = /sent no response for 1500 ms\. Nothing was written; try again/;
      await rejects(service.appendEvent({ session, event }), 'connection_lost', notSent);
      assert.deepEqual(session.events, []);
      await rejects(service.getSession(KEY), 'storage_unavailable');
      proxy.thaw();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('an append with a lost response is stored, and its retry changes nothing', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      proxy.freeze('responses');
      await rejects(service.appendEvent({ session, event }), 'connection_lost');
      proxy.thaw();
      await service.appendEvent({ session, event });
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      assert.deepEqual(session.events, [event]);
    });

    it('an append whose commit was sent to a frozen server may be stored, and a read fails with nothing written', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      proxy.freeze({ from: engine.commit });
      const mayBe = /It may be stored, since the commit was sent/;
      await rejects(service.appendEvent({ session, event }), 'connection_lost', mayBe);
      proxy.thaw();
      await service.getSession(KEY);
      proxy.freeze({ from: engine.commit });
      await rejects(service.getSession(KEY), 'connection_lost', /Nothing was written; try again/);
      proxy.thaw();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    for (const by of ['url', 'kysely'] as const) {
      it(`open() over a ${by} whose connection breaks at the commit of the tables says that it was sent`, async () => {
        const kysely = engine.kysely(proxy.port);
        const service =
          by === 'url' ? open() : new DatabaseSessionService({ kysely, engine: kind, ...SHORT });
        proxy.cut('create table', engine.commit);
        await rejects(service.open(), 'connection_lost', /It may be stored, since the commit was sent/);
        await service.createSession(KEY);
        await service.close();
        await kysely.destroy();
      });
    }

    it('open() whose connection breaks at the commit of the check fails with nothing written', async () => {
      await open().createSession(KEY);
      proxy.cut(engine.commit);
      await rejects(open().open(), 'connection_lost', /Nothing was written; try again/);
    });

    it('a call that gets no connection, since all are in use, is storage_blocked and says so', async () => {
      const service = open({ ...SHORT, driverOptions: engine.exhausted });
      const session = await service.createSession(KEY);
      const other = await engine.session(server.port);
      for (const statement of engine.hold) await other.query(statement);
      const append = service.appendEvent({ session, event: eventOf('e', { n: 1 }) });
      const read = rejects(
        service.getSession(KEY),
        'storage_blocked',
        /all connections are in use/,
      );
      await Promise.allSettled([append]);
      await read;
      for (const statement of engine.release) await other.query(statement);
      await other.end();
      await service.appendEvent({ session, event: eventOf('f', { n: 2 }) });
      assert.equal((await stored(service)).n, 2);
    });

    it('a read, a list and open() on a frozen server time out', async () => {
      const service = open();
      await service.createSession(KEY);
      proxy.freeze('all');
      await rejects(service.getSession(KEY), 'connection_lost');
      await rejects(service.listSessions(KEY), 'storage_unavailable');
      await rejects(service.open(), 'storage_unavailable');
      await rejects(open().open(), 'storage_unavailable');
    });

    it('open() reports a server that has ended', async () => {
      const service = open();
      await service.open();
      await proxy.close();
      await rejects(service.open(), 'storage_unavailable', /ECONNREFUSED/);
      proxy = await startFreezingProxy(server.port);
    });

    it("calls over a user's own Kysely to a frozen server time out", async () => {
      const kysely = engine.kysely(proxy.port);
      const service = new DatabaseSessionService({ kysely, engine: kind, ...SHORT });
      const session = await service.createSession(KEY);
      proxy.freeze('all');
      const event = eventOf('e', { n: 1 });
      await rejects(service.appendEvent({ session, event }), 'connection_lost');
      await service.close();
      proxy.thaw();
      assert.deepEqual(await stored(open()), { ids: [], n: undefined });
      await proxy.close();
      // `mysql2` reports the lost connection here once more.
      await kysely.destroy().catch(() => undefined);
      proxy = await startFreezingProxy(server.port);
    });

    /** Waits until at most so many transactions run on the server. */
    async function untilTransactions(most: number, { signal }: TestContext): Promise<void> {
      // A transaction would see the view unchanged. InnoDB refreshes its view only if no one read it for 100 ms.
      const watcher = await engine.session(server.port);
      const count = async () => Number((await watcher.query(engine.transactions))[0]?.count);
      while (!signal.aborted && (await count()) > most) await pause(200);
      await watcher.end();
    }

    /** A service whose appends wait for the app state, which another connection has locked. */
    async function openWithLockedApp() {
      const service = open({ timeoutMs: 600_000 });
      const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
      const other = await engine.session(server.port);
      await other.query('begin');
      await other.query('select * from app_states for update');
      return { service, session, other };
    }

    it(
      'a signal ends an append that waits for a lock, and releases its own locks',
      HANGS,
      async (t) => {
        const { service, session, other } = await openWithLockedApp();
        const controller = new AbortController();
        const event = eventOf('e', { n: 1, 'app:n': 1 });
        const append = service.appendEvent({ session, event, signal: controller.signal });
        await pause(300);
        const reason = new Error('no longer wanted');
        controller.abort(reason);
        await assert.rejects(append, { code: 'aborted', cause: reason });
        assert.deepEqual(session.events, []);
        // Only the transaction that holds the lock remains.
        await untilTransactions(1, t);
        await service.appendEvent({ session, event: eventOf('without the lock', { m: 1 }) });
        await other.query('rollback');
        await other.end();
        await service.appendEvent({ session, event });
        assert.deepEqual(await stored(service), { ids: ['without the lock', 'e'], n: 1 });
      },
    );

    it(
      'a statement that arrives after its cancellation does not keep waiting for a lock',
      HANGS,
      async (t) => {
        const { service, session, other } = await openWithLockedApp();
        const controller = new AbortController();
        proxy.delay('app_states', 500);
        const event = eventOf('e', { n: 1, 'app:n': 1 });
        const append = service.appendEvent({ session, event, signal: controller.signal });
        await pause(100);
        controller.abort();
        await assert.rejects(append, { code: 'aborted' });
        // The statement has arrived by now, and waits for the lock.
        await pause(600);
        await untilTransactions(1, t);
        proxy.thaw();
        await other.query('rollback');
        await other.end();
        await service.appendEvent({ session, event });
        assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      },
    );

    it('an append that times out releases its locks', HANGS, async (t) => {
      const service = open();
      const session = await service.createSession(KEY);
      const other = await engine.session(server.port);
      await other.query(engine.sleep);
      const event = eventOf('e', { n: 1 });
      const codes: SessionErrorCode[] = ['storage_blocked', 'connection_lost'];
      await assert.rejects(service.appendEvent({ session, event }), (error) =>
        codes.some((code) => isSessionError(error, code)),
      );
      await untilTransactions(0, t);
      await other.query(`drop trigger sleeps${kind === 'mysql' ? '' : ' on events'}`);
      await other.end();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('a signal ends a read that waits for a connection of the pool', async () => {
      const service = open({ driverOptions: engine.one });
      const session = await service.createSession(KEY);
      const other = await engine.session(server.port);
      await other.query('begin');
      await other.query('select * from sessions for update');
      const append = service.appendEvent({ session, event: eventOf('e', { n: 1 }) });
      const controller = new AbortController();
      const read = service.getSession({ ...KEY, signal: controller.signal });
      await pause(200);
      controller.abort();
      await rejects(read, 'aborted');
      await other.query('rollback');
      await other.end();
      await append;
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('an append fails with storage_blocked if another transaction holds its lock too long', async () => {
      const service = open({ timeoutMs: 1000 });
      const session = await service.createSession(KEY);
      const other = await engine.session(server.port);
      await other.query('begin');
      await other.query('select * from sessions for update');
      const event = eventOf('e', { n: 1 });
      const start = performance.now();
      await rejects(service.appendEvent({ session, event }), 'storage_blocked');
      const waited = performance.now() - start;
      assert.ok(waited < 1900, `it waited ${waited} ms, which is more than one limit`);
      await other.query('rollback');
      await other.end();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('a create without app keys does not wait for a lock on the app state', async () => {
      const service = open({ timeoutMs: 1000 });
      await service.createSession(KEY);
      const other = await engine.session(server.port);
      await other.query('begin');
      await other.query('select * from app_states for update');
      await service.createSession({ ...KEY, sessionId: 'second', state: { n: 1 } });
      const state = { 'app:n': 1 };
      await rejects(
        service.createSession({ ...KEY, sessionId: 'third', state }),
        'storage_blocked',
      );
      await other.query('rollback');
      await other.end();
      await service.createSession({ ...KEY, sessionId: 'third', state });
      assert.deepEqual(await service.getAppState(KEY), { n: 1 });
    });

    it('close() ends an append that waits for a frozen server', async () => {
      const service = open({ timeoutMs: 600_000 });
      const session = await service.createSession(KEY);
      proxy.freeze('all');
      const append = rejects(
        service.appendEvent({ session, event: eventOf('e') }),
        'connection_lost',
      );
      await pause(50);
      await service.close();
      await append;
    });

    it('close() does not wait for a new connection to a frozen server', HANGS, async () => {
      const service = open({ timeoutMs: 600_000 });
      proxy.freeze('all');
      const read = rejects(service.getSession(KEY), 'storage_unavailable');
      await pause(50);
      await service.close();
      await read;
    });

    it('close() ends idle connections to a frozen server', HANGS, async (t) => {
      const service = open({ timeoutMs: 600_000 });
      await service.createSession(KEY);
      proxy.freeze('all');
      await service.close();
      while (!t.signal.aborted && proxy.connections > 0) await pause(50);
      assert.equal(proxy.connections, 0);
    });

    it('a connection whose rollback failed is not reused', async () => {
      const service = open({ ...SHORT, driverOptions: engine.one });
      const session = await service.createSession(KEY);
      const other = await engine.session(server.port);
      await other.query(engine.refuse);
      proxy.freeze({ from: 'rollback' });
      const refused = eventOf('refused', { n: 1 });
      await rejects(service.appendEvent({ session, event: refused }), 'storage_failed', /refused/);
      proxy.thaw();
      await service.appendEvent({ session, event: eventOf('e', { n: 2 }) });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 2 });
      await other.end();
    });

    if (kind === 'mysql') {
      it('open() creates no tables while another program holds the lock for it', async () => {
        const other = await engine.session(server.port);
        await other.query("select get_lock('adk_session_wasm', 0)");
        const service = open();
        await rejects(service.open(), 'storage_blocked', /others are opening it/);
        assert.deepEqual(await other.query('show tables'), []);
        await other.end();
        await service.createSession(KEY);
      });
    }

    if (kind === 'postgresql') {
      it("an append fails with connection_lost if the driver's query_timeout ends its commit", async () => {
        const service = open({ driverOptions: { query_timeout: 300 } });
        const session = await service.createSession(KEY);
        const event = eventOf('e', { n: 1 });
        const other = await engine.session(server.port);
        await other.query(`create function wait() returns trigger language plpgsql as $$ begin
            perform pg_sleep(0.8); return new; end $$;
          create trigger waits before insert on events for each row execute function wait()`);
        await rejects(service.appendEvent({ session, event }), 'connection_lost');
        await other.query('drop trigger waits on events');
        await other.end();
        await service.appendEvent({ session, event });
        await service.appendEvent({ session, event });
        assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      });

      it('an append fails with connection_lost if the server reports an unknown result of the commit', async () => {
        const service = open();
        const session = await service.createSession(KEY);
        const other = await engine.session(server.port);
        await other.query(`create function refuse() returns trigger language plpgsql as $$ begin
            raise exception 'result is ambiguous' using errcode = '40003'; end $$;
          create constraint trigger refuses after insert on events deferrable initially deferred
            for each row execute function refuse()`);
        const event = eventOf('e', { n: 1 });
        await rejects(service.appendEvent({ session, event }), 'connection_lost', /ambiguous/);
        await other.query('drop trigger refuses on events');
        await other.end();
        await service.appendEvent({ session, event });
        assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      });
    }
  });
}
