// Servers that run but refuse access: each error has a code and says what to do.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError, type SessionErrorCode } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, type Server, startMariadb, startPostgres } from '../servers.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

async function rejects(call: Promise<unknown>, code: SessionErrorCode, message: RegExp) {
  await assert.rejects(call, (error) => {
    assert.ok(isSessionError(error, code), inspect(error));
    assert.match(error.message, message);
    return true;
  });
}

describe('A PostgreSQL server', () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = await startPostgres();
    url = await emptied('postgresql', server);
  });
  after(() => server.remove());

  const run = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };

  it('without TLS is storage_unavailable if the options require TLS', async () => {
    const service = new DatabaseSessionService(`${url}?ssl=require`);
    await rejects(service.ping(), 'storage_unavailable', /SSL.*Switch TLS on/);
    await service.close();
  });

  it('refuses a missing or wrong password with storage_unavailable', async () => {
    await run(
      "create role locked login password 'secret'",
      `do $$ begin execute format('copy (select unnest(array[%L, %L])) to %L',
        'host all locked 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust',
        current_setting('hba_file')); end $$`,
      'select pg_reload_conf()',
    );
    const locked = url.replace('adk@', 'locked@');
    const service = new DatabaseSessionService(locked);
    await rejects(service.ping(), 'storage_unavailable', /password.*Check the address, the access/);
    await service.close();
    const wrong = new DatabaseSessionService(url.replace('adk@', 'locked:wrong@'));
    await rejects(wrong.ping(), 'storage_unavailable', /password/);
    await wrong.close();
  });

  it('that is read-only refuses writes with storage_unavailable, and serves reads', async () => {
    const service = new DatabaseSessionService(url);
    const session = await service.createSession(KEY);
    await run('alter database adk set default_transaction_read_only = on');
    const reader = new DatabaseSessionService(url);
    const [event, advice] = [eventOf('e', { n: 1 }), /this server only reads/];
    await rejects(reader.appendEvent({ session, event }), 'storage_unavailable', advice);
    assert.deepEqual((await reader.getSession(KEY))?.events, []);
    await reader.close();
    await run(
      'set default_transaction_read_only = off',
      'alter database adk reset default_transaction_read_only',
    );
    await service.appendEvent({ session, event });
    await service.close();
  });

  it('that reports a protocol violation fails an append with storage_failed, not as transient', async () => {
    const service = new DatabaseSessionService(url);
    const session = await service.getOrCreateSession(KEY);
    await run(
      `create function refuse() returns trigger language plpgsql as $$ begin
        raise exception 'violated' using errcode = '08P01'; end $$`,
      'create trigger refuses before insert on events for each row execute function refuse()',
    );
    const append = service.appendEvent({ session, event: eventOf('another') });
    await rejects(append, 'storage_failed', /violated. Nothing was written/);
    await service.close();
  });
});

describe('A MariaDB server', () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = await startMariadb();
    url = await emptied('mariadb', server);
  });
  after(() => server.remove());

  it('without TLS is storage_unavailable if the options require TLS', async () => {
    const service = new DatabaseSessionService(url, { driverOptions: { ssl: {} } });
    await rejects(service.ping(), 'storage_unavailable', /secure.*Switch TLS on/);
    await service.close();
  });

  it('that is read-only refuses writes with storage_unavailable, and serves reads', async () => {
    const service = new DatabaseSessionService(url);
    const session = await service.createSession(KEY);
    const other = await createConnection(url.replace('mariadb', 'mysql'));
    await other.query('set global tx_read_only = 1');
    const reader = new DatabaseSessionService(url);
    const [event, advice] = [eventOf('e', { n: 1 }), /this server only reads/];
    await rejects(reader.appendEvent({ session, event }), 'storage_unavailable', advice);
    assert.deepEqual((await reader.getSession(KEY))?.events, []);
    await other.query('set global tx_read_only = 0');
    await other.end();
    await reader.close();
    await service.appendEvent({ session, event });
    await service.close();
  });
});
