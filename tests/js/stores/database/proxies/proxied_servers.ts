// Database servers behind a proxy that can freeze and cut connections.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import { inspect } from 'node:util';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createConnection, createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError, type SessionErrorCode } from '../../../../../js/index.js';
import { emptied, type Server, startMariadb, startPostgres } from '../servers.js';
import { type FreezingProxy, startFreezingProxy } from './freezing_proxy.js';

export const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
export const SHORT = { timeoutMs: 500 };
/** For tests that would otherwise wait forever for a lock. */
export const HANGS = { timeout: 60_000 };

export async function rejects(call: Promise<unknown>, code: SessionErrorCode, message = /./) {
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

export const KINDS = ['postgresql', 'mysql'] as const;

/** Starts a server of that kind for the tests of a `describe`, and for each test an empty database and a proxy. */
export function proxied(kind: (typeof KINDS)[number]) {
  const engine = ENGINES[kind];
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

  return {
    engine,
    open,
    stored,
    get server() {
      return server;
    },
    get proxy() {
      return proxy;
    },
    async restartProxy() {
      proxy = await startFreezingProxy(server.port);
    },
  };
}
