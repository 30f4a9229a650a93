// Frozen servers and lost connections: every call ends, and its error says what is known.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf } from '../cases/concurrency.js';
import { HANGS, KEY, KINDS, proxied, rejects, SHORT } from './proxied_servers.js';

for (const kind of KINDS) {
  describe(`Frozen and lost connections to ${kind}`, () => {
    const on = proxied(kind);
    const { engine, open, stored } = on;

    it('an append to a frozen server times out, and its retry is stored once', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      on.proxy.freeze('all');
      const notSent = /sent no response for 1500 ms\. Nothing was written; try again/;
      await rejects(service.appendEvent({ session, event }), 'connection_lost', notSent);
      assert.deepEqual(session.events, []);
      await rejects(service.getSession(KEY), 'storage_unavailable');
      on.proxy.thaw();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    it('an append with a lost response is stored, and its retry changes nothing', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      on.proxy.freeze('responses');
      await rejects(service.appendEvent({ session, event }), 'connection_lost');
      on.proxy.thaw();
      await service.appendEvent({ session, event });
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
      assert.deepEqual(session.events, [event]);
    });

    it('an append whose commit was sent to a frozen server may be stored, and a read fails with nothing written', async () => {
      const service = open();
      const session = await service.createSession(KEY);
      const event = eventOf('e', { n: 1 });
      on.proxy.freeze({ from: engine.commit });
      const mayBe = /It may be stored, since the commit was sent/;
      await rejects(service.appendEvent({ session, event }), 'connection_lost', mayBe);
      on.proxy.thaw();
      await service.getSession(KEY);
      on.proxy.freeze({ from: engine.commit });
      await rejects(service.getSession(KEY), 'connection_lost', /Nothing was written; try again/);
      on.proxy.thaw();
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 1 });
    });

    for (const by of ['url', 'kysely'] as const) {
      it(`open() over a ${by} whose connection breaks at the commit of the tables says that it was sent`, async () => {
        const kysely = engine.kysely(on.proxy.port);
        const service =
          by === 'url' ? open() : new DatabaseSessionService({ kysely, engine: kind, ...SHORT });
        on.proxy.cut('create table', engine.commit);
        await rejects(
          service.ping(),
          'connection_lost',
          /It may be stored, since the commit was sent/,
        );
        await service.createSession(KEY);
        await service.close();
        await kysely.destroy();
      });
    }

    it('ping() whose connection breaks at the commit of the check fails with nothing written', async () => {
      await open().createSession(KEY);
      on.proxy.cut(engine.commit);
      await rejects(open().ping(), 'connection_lost', /Nothing was written; try again/);
    });

    it('a read, a list and ping() on a frozen server time out', async () => {
      const service = open();
      await service.createSession(KEY);
      on.proxy.freeze('all');
      await rejects(service.getSession(KEY), 'connection_lost');
      await rejects(service.listSessions(KEY), 'storage_unavailable');
      await rejects(service.ping(), 'storage_unavailable');
      await rejects(open().ping(), 'storage_unavailable');
    });

    it('ping() reports a server that has ended', async () => {
      const service = open();
      await service.ping();
      await on.proxy.close();
      await rejects(service.ping(), 'storage_unavailable', /ECONNREFUSED/);
      await on.restartProxy();
    });

    it("calls over a user's own Kysely to a frozen server time out", async () => {
      const kysely = engine.kysely(on.proxy.port);
      const service = new DatabaseSessionService({ kysely, engine: kind, ...SHORT });
      const session = await service.createSession(KEY);
      on.proxy.freeze('all');
      const event = eventOf('e', { n: 1 });
      await rejects(service.appendEvent({ session, event }), 'connection_lost');
      await service.close();
      on.proxy.thaw();
      assert.deepEqual(await stored(open()), { ids: [], n: undefined });
      await on.proxy.close();
      // `mysql2` reports the lost connection here once more.
      await kysely.destroy().catch(() => undefined);
      await on.restartProxy();
    });

    it('close() ends an append that waits for a frozen server', async () => {
      const service = open({ timeoutMs: 600_000 });
      const session = await service.createSession(KEY);
      on.proxy.freeze('all');
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
      on.proxy.freeze('all');
      const read = rejects(service.getSession(KEY), 'storage_unavailable');
      await pause(50);
      await service.close();
      await read;
    });

    it('close() ends idle connections to a frozen server', HANGS, async (t) => {
      const service = open({ timeoutMs: 600_000 });
      await service.createSession(KEY);
      on.proxy.freeze('all');
      await service.close();
      while (!t.signal.aborted && on.proxy.connections > 0) await pause(50);
      assert.equal(on.proxy.connections, 0);
    });

    it('a connection whose rollback failed is not reused', async () => {
      const service = open({ ...SHORT, driverOptions: engine.one });
      const session = await service.createSession(KEY);
      const other = await engine.session(on.server.port);
      await other.query(engine.refuse);
      on.proxy.freeze({ from: 'rollback' });
      const refused = eventOf('refused', { n: 1 });
      await rejects(service.appendEvent({ session, event: refused }), 'storage_failed', /refused/);
      on.proxy.thaw();
      await service.appendEvent({ session, event: eventOf('e', { n: 2 }) });
      assert.deepEqual(await stored(service), { ids: ['e'], n: 2 });
      await other.end();
    });

    if (kind === 'postgresql') {
      it("an append fails with connection_lost if the driver's query_timeout ends its commit", async () => {
        const service = open({ driverOptions: { query_timeout: 300 } });
        const session = await service.createSession(KEY);
        const event = eventOf('e', { n: 1 });
        const other = await engine.session(on.server.port);
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
        const other = await engine.session(on.server.port);
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
