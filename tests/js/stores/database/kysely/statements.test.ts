// The statements that the service sends, and the rows that it waits for, on real servers.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, sql, SqliteDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';

import {
  DatabaseSessionService,
  type EngineKind,
} from '../../../../../js/service/database/index.js';
import { createEvent } from '../../../../../js/index.js';
import { emptied, type Server, startMariadb, startPostgres } from '../servers.js';

const APP = { appName: 'app' };
const USER = { ...APP, userId: 'user' };
const KEY = { ...USER, sessionId: 's1' };

interface Place {
  readonly title: string;
  readonly engine: EngineKind;
  readonly dialect: () => Promise<Dialect>;
}

const servers: Server[] = [];
after(() => Promise.all(servers.map((server) => server.remove())));

async function started(start: () => Promise<Server>): Promise<Server> {
  const server = await start();
  servers.push(server);
  return server;
}

const PLACES: readonly Place[] = [
  {
    title: 'SQLite',
    engine: 'sqlite',
    dialect: () => Promise.resolve(new SqliteDialect({ database: new Sqlite(':memory:') })),
  },
  {
    title: 'PostgreSQL',
    engine: 'postgresql',
    async dialect() {
      const connectionString = await emptied('postgresql', await started(startPostgres));
      return new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 4 }) });
    },
  },
  {
    title: 'MariaDB',
    engine: 'mysql',
    async dialect() {
      const url = await emptied('mariadb', await started(startMariadb));
      const uri = url.replace('mariadb:', 'mysql:');
      return new MysqlDialect({ pool: createPool({ uri, connectionLimit: 4 }) });
    },
  },
];

for (const { title, engine, dialect } of PLACES) {
  describe(`The service over ${title}`, () => {
    let kysely: Kysely<unknown>;
    let service: DatabaseSessionService;
    const sent: string[] = [];
    before(async () => {
      kysely = new Kysely<unknown>({
        dialect: await dialect(),
        log: ({ query }) => void sent.push(query.sql),
      });
      service = new DatabaseSessionService({ kysely, engine });
      for (const sessionId of ['s1', 's2', 's3']) {
        await service.createSession({ ...USER, sessionId, state: { 'app:a': 1, 'user:u': 1 } });
      }
    });
    after(async () => {
      await service.close();
      await kysely.destroy();
    });

    it('counts no sessions for a list without total', async () => {
      const counts = () => sent.filter((text) => /select count\(\*\) as/i.test(text)).length;
      for (const of of [APP, USER]) {
        for (const page of [{ limit: 2 }, { limit: 2, page: 2 }, { limit: 1, offset: 1 }]) {
          sent.length = 0;
          const whole = await service.listSessions({ ...of, ...page, order: 'desc' });
          assert.equal(counts(), 1);
          sent.length = 0;
          const bare = await service.listSessions({ ...of, ...page, order: 'desc', withTotal: false }); // prettier-ignore
          assert.equal(counts(), 0);
          const { totalItems, totalPages, ...rest } = whole;
          assert.deepEqual(bare, rest);
          assert.deepEqual([totalItems, totalPages], [3, Math.ceil(3 / page.limit)]);
        }
        const { sessions, limit } = await service.listSessions({ ...of, withTotal: false });
        assert.deepEqual([sessions.length, limit], [3, 3]);
      }
    });

    /** Runs a call while another transaction locks rows that the call does not change. */
    async function beside(tables: readonly string[], call: () => Promise<unknown>): Promise<void> {
      await kysely.transaction().execute(async (transaction) => {
        for (const table of tables) {
          await sql`select 1 from ${sql.table(table)} for update`.execute(transaction);
        }
        await call();
      });
    }
    // SQLite locks the whole file for each write.
    if (engine !== 'sqlite') {
      it('locks no app state to create a session without app keys', async () => {
        await beside(['app_states', 'adk_internal_metadata'], () =>
          service.createSession({ ...USER, sessionId: 'new', state: { a: 1, 'user:u': 2 } }),
        );
      });

      it('locks no shared state to append an event without shared keys', async () => {
        const session = await service.getSession(KEY);
        assert.ok(session);
        const event = createEvent({ author: 'user' });
        event.actions.stateDelta = { own: 1 };
        await beside(['app_states', 'user_states', 'adk_internal_metadata'], () =>
          service.appendEvent({ session, event }),
        );
      });
    }

    it('reads the floor only if a row is absent', async () => {
      const session = await service.getSession(KEY);
      assert.ok(session);
      sent.length = 0;
      await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
      const reading = sent.filter((text) => /adk_session_wasm_metadata|adk_internal_metadata/.test(text)); // prettier-ignore
      for (const text of reading) assert.match(text, /case when .* is null then/s);
    });
  });
}
