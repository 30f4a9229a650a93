// A Kysely whose driver answers after the service has stopped to wait.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { type DatabaseConnection, Kysely, SqliteDialect } from 'kysely';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf } from '../cases/concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** A dialect whose statements that begin so are answered once `gate` resolves, if there is one. */
class GatedDialect extends SqliteDialect {
  gate: Promise<void> | undefined;
  readonly #gated: string;

  constructor(gated: string) {
    super({ database: new Sqlite(':memory:') });
    this.#gated = gated;
  }

  override createDriver() {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async () => {
      const connection = await acquire();
      const execute = connection.executeQuery.bind(connection);
      const gated: DatabaseConnection['executeQuery'] = async (query) => {
        if (query.sql.startsWith(this.#gated)) await this.gate;
        return execute(query as never) as never;
      };
      return { executeQuery: gated, streamQuery: connection.streamQuery.bind(connection) };
    };
    return driver;
  }
}

describe('A write over a Kysely whose driver answers too late', () => {
  it('fails with connection_lost, and is not committed after that', async () => {
    const dialect = new GatedDialect('insert into "events"');
    const kysely = new Kysely<unknown>({ dialect });
    const service = new DatabaseSessionService({ kysely, engine: 'sqlite', timeoutMs: 50 });
    const session = await service.createSession(KEY);
    let open = (): void => undefined;
    dialect.gate = new Promise<void>((resolve) => (open = resolve));
    const append = service.appendEvent({ session, event: eventOf('late') });
    await assert.rejects(append, { code: 'connection_lost' });
    open();
    assert.deepEqual((await service.getSession(KEY))?.events, []);
    await service.close();
    await kysely.destroy();
  });
});

describe('Opening the tables over a Kysely whose driver answers too late', () => {
  for (const gated of ['release savepoint', 'create table']) {
    it(`fails with connection_lost, and works at the next call: ${gated}`, async () => {
      const dialect = new GatedDialect(gated);
      const kysely = new Kysely<unknown>({ dialect });
      const service = new DatabaseSessionService({ kysely, engine: 'sqlite', timeoutMs: 50 });
      let open = (): void => undefined;
      dialect.gate = new Promise<void>((resolve) => (open = resolve));
      await assert.rejects(service.ping(), { code: 'connection_lost' });
      open();
      await service.createSession(KEY);
      assert.deepEqual((await service.getSession(KEY))?.events, []);
      await service.close();
      await kysely.destroy();
    });
  }
});
