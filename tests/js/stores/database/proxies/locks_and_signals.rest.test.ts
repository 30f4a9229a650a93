// Waits for locks of other transactions and for connections: time limits and signals end them.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { type Diagnostic, isSessionError, type SessionErrorCode } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';
import { HANGS, KEY, KINDS, proxied, rejects, SHORT } from './proxied_servers.js';

for (const kind of KINDS) {
  describe(`Waits on ${kind}`, () => {
    const on = proxied(kind);
    const { engine, open, stored } = on;

    it('a call that gets no connection, since all are in use, is storage_blocked and says so', async () => {
      const service = open({ ...SHORT, driverOptions: engine.exhausted });
      const session = await service.createSession(KEY);
      const other = await engine.session(on.server.port);
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

    /** Waits until at most so many transactions run on the server. */
    async function untilTransactions(most: number, { signal }: TestContext): Promise<void> {
      // A transaction would see the view unchanged. InnoDB refreshes its view only if no one read it for 100 ms.
      const watcher = await engine.session(on.server.port);
      const count = async () => Number((await watcher.query(engine.transactions))[0]?.count);
      while (!signal.aborted && (await count()) > most) await pause(200);
      await watcher.end();
    }

    /** A service whose appends wait for the app state, which another connection has locked. */
    async function openWithLockedApp() {
      const service = open({ timeoutMs: 600_000 });
      const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
      const other = await engine.session(on.server.port);
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
        on.proxy.delay('app_states', 500);
        const event = eventOf('e', { n: 1, 'app:n': 1 });
        const append = service.appendEvent({ session, event, signal: controller.signal });
        await pause(100);
        controller.abort();
        await assert.rejects(append, { code: 'aborted' });
        // The statement has arrived by now, and waits for the lock.
        await pause(600);
        await untilTransactions(1, t);
        on.proxy.thaw();
        await other.query('rollback');
        await other.end();
        await service.appendEvent({ session, event });
        assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      },
    );

    it('an append that times out releases its locks', HANGS, async (t) => {
      const service = open();
      const session = await service.createSession(KEY);
      const other = await engine.session(on.server.port);
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
      const other = await engine.session(on.server.port);
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
      const seen: Diagnostic[] = [];
      const service = open({ timeoutMs: 1000, onDiagnostic: (one: Diagnostic) => seen.push(one) });
      const session = await service.createSession(KEY);
      const other = await engine.session(on.server.port);
      await other.query('begin');
      await other.query('select * from sessions for update');
      const event = eventOf('e', { n: 1 });
      await rejects(service.appendEvent({ session, event }), 'storage_blocked');
      // A second try would wait for the whole limit again.
      const [failed] = seen.slice(-1);
      assert.equal(failed?.kind === 'call' && failed.retries, 0);
      await other.query('rollback');
      await other.end();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('a create without app keys does not wait for a lock on the app state', async () => {
      const service = open({ timeoutMs: 1000 });
      await service.createSession(KEY);
      const other = await engine.session(on.server.port);
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

    if (kind === 'mysql') {
      it('ping() creates no tables while another program holds the lock for it', async () => {
        const other = await engine.session(on.server.port);
        await other.query("select get_lock('adk_session_wasm', 0)");
        const service = open();
        await rejects(service.ping(), 'storage_blocked', /others are opening it/);
        assert.deepEqual(await other.query('show tables'), []);
        await other.end();
        await service.createSession(KEY);
      });
    }
  });
}
