// Another service creates a session between two statements of a deletion. The servers' transactions see rows that were
// committed in between.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DatabaseConnection, type Dialect, type Driver, Kysely, MysqlDialect, PostgresDialect } from 'kysely'; // prettier-ignore
import { createPool } from 'mysql2';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { emptied, type Server, type ServerName, SERVERS } from '../servers.js';

const dialects: Readonly<Record<ServerName, (url: string) => Dialect>> = {
  postgresql: (url: string) =>
    new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  mariadb: (url: string) =>
    new MysqlDialect({
      pool: createPool({ uri: url.replace('mariadb:', 'mysql:'), connectionLimit: 1 }),
    }),
};

/** Runs `act` after the given number of results from the database. */
class Placeholder {
  #left = 0;
  #act: (() => Promise<unknown>) | undefined;

  set(results: number, act: () => Promise<unknown>): void {
    this.#left = results;
    this.#act = act;
  }

  hasNotCome(): boolean {
    return this.#left > 0;
  }

  /** The same dialect, whose results are counted. */
  in(dialect: Dialect): Dialect {
    const createDriver = (): Driver => {
      const driver = dialect.createDriver();
      const acquire = driver.acquireConnection.bind(driver);
      const counted = new WeakSet<DatabaseConnection>();
      driver.acquireConnection = async (...options) => {
        const connection = await acquire(...options);
        if (!counted.has(connection)) this.#count(connection);
        counted.add(connection);
        return connection;
      };
      return driver;
    };
    return {
      createDriver,
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (database) => dialect.createIntrospector(database),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    };
  }

  #count(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection) as (
      ...values: unknown[]
    ) => Promise<never>;
    connection.executeQuery = async (...values: unknown[]) => {
      const result = await execute(...values);
      this.#left -= 1;
      if (this.#left === 0) await this.#act?.();
      return result;
    };
  }
}

for (const kind of Object.keys(SERVERS) as ServerName[]) {
  const { engine, start } = SERVERS[kind];
  describe(`deleteUser on ${kind}`, () => {
    let server: Server;
    before(async () => (server = await start()));
    after(() => server.remove());

    it('deletes a session that is created between two of its statements completely or not at all', async () => {
      const url = await emptied(kind, server);
      const gap = new Placeholder();
      await using kysely = new Kysely<unknown>({ dialect: gap.in(dialects[kind](url)) });
      await using deleting = new DatabaseSessionService({ kysely, engine });
      await using creating = new DatabaseSessionService(url);
      await deleting.ping();
      await creating.createSession({ appName: 'app', userId: 'other' });
      for (let results = 1; ; results += 1) {
        const user = { appName: 'app', userId: `user ${results}` };
        const key = { ...user, sessionId: 's' };
        gap.set(results, () => creating.createSession({ ...key, state: { 'user:a': 1 } }));
        await deleting.deleteUser(user);
        if (gap.hasNotCome()) {
          assert.ok(results > 3);
          return;
        }
        const session = await creating.getSession(key);
        const state = await creating.getUserState(user);
        assert.deepEqual(state, session === undefined ? {} : { a: 1 }, `after result ${results}`);
      }
    });
  });
}
