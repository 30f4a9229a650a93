// Settings and locks of a MariaDB connection that no rollback undoes: the connection is given back without them.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DatabaseConnection, Kysely, MysqlDialect, sql } from 'kysely';
import { createPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';

import { MYSQL } from '../../../../../js/stores/database/engines/mysql/mysql.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { plainQuery, type Steps } from '../../../../../js/stores/database/engine/prepared.js';
import { Waits } from '../../../../../js/stores/database/engine/waits.js';
import { emptied, type Server, startMariadb } from '../servers.js';

let server: Server;
before(async () => (server = await startMariadb()));
after(() => server.remove());

/** One connection to MariaDB, whose statements that begin so are answered once `gate` resolves. */
class GatedDialect extends MysqlDialect {
  gate: Promise<void> | undefined;
  /** Called when such a statement has been sent. */
  onSent: () => void = () => undefined;
  readonly #gated: string;

  constructor(url: string, gated: string) {
    super({ pool: createPool({ uri: url.replace('mariadb:', 'mysql:'), connectionLimit: 1 }) });
    this.#gated = gated;
  }

  override createDriver() {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const gates = new WeakSet<DatabaseConnection>();
    driver.acquireConnection = async () => {
      const connection = await acquire();
      if (gates.has(connection)) return connection;
      gates.add(connection);
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = async (query) => {
        const result = await execute(query);
        if (!query.sql.startsWith(this.#gated)) return result as never;
        this.onSent();
        await this.gate;
        return result as never;
      };
      return connection;
    };
    return driver;
  }
}

describe('The connection of a Kysely over MariaDB whose driver answers too late', () => {
  it('is given back without the lock for creating tables', async () => {
    const dialect = new GatedDialect(await emptied('mariadb', server), 'create table');
    const kysely = new Kysely<unknown>({ dialect });
    const service = new DatabaseSessionService({ kysely, engine: 'mysql', timeoutMs: 50 });
    let open = (): void => undefined;
    dialect.gate = new Promise<void>((resolve) => (open = resolve));
    await assert.rejects(service.ping(), { code: 'connection_lost' });
    open();
    // The pool has one connection, so this waits until it is given back.
    const { rows } = await sql<{ holder: unknown }>`
      select is_used_lock('adk_session_wasm') as holder`.execute(kysely);
    assert.deepEqual(rows, [{ holder: null }]);
    await service.ping();
    await service.close();
    await kysely.destroy();
  });

  it('is given back without the limit for building an index', async () => {
    const url = await emptied('mariadb', server);
    const first = new DatabaseSessionService(url);
    await first.ping();
    await first.close();
    const python = await createConnection(url.replace('mariadb:', 'mysql:'));
    await python.query('drop index adk_session_wasm_by_creation on sessions');
    await python.end();
    const dialect = new GatedDialect(url, 'alter table');
    const kysely = new Kysely<unknown>({ dialect });
    const service = new DatabaseSessionService({ kysely, engine: 'mysql' });
    let open = (): void => undefined;
    dialect.gate = new Promise<void>((resolve) => (open = resolve));
    const isSent = new Promise<void>((resolve) => (dialect.onSent = resolve));
    await service.ping();
    await isSent;
    await service.close({ timeoutMs: 50 }).catch(() => undefined);
    open();
    const { rows } = await sql<{ isDefault: unknown }>`
      select @@session.lock_wait_timeout = @@global.lock_wait_timeout as isDefault`.execute(kysely);
    assert.deepEqual(rows, [{ isDefault: 1 }]);
    await kysely.destroy();
  });
});

it('a signal between two requests leaves no setting on a connection of the own pool', async () => {
  const url = await emptied('mariadb', server);
  const waits = new Waits();
  const { run, close } = await MYSQL.connect(url.replace('mariadb:', 'mysql:'), {
    durability: 'strict',
    driverOptions: { connectionLimit: 1 },
    waits,
    onLost: () => undefined,
  });
  const controller = new AbortController();
  const set = plainQuery('set session lock_wait_timeout = 1');
  const undo = plainQuery('set session lock_wait_timeout = default');
  const steps = function* (): Steps<void> {
    yield { queries: [{ ...set, undo }], isLast: false };
    controller.abort();
    yield { queries: [plainQuery('select 1')], isLast: false };
  };
  const { signal } = controller;
  await assert.rejects(async () => run('autocommit', steps, { signal }), { code: 'aborted' });
  const limit = function* (): Steps<unknown> {
    const select = 'select @@session.lock_wait_timeout as own, @@global.lock_wait_timeout as ofAll';
    const [[row]] = (yield { queries: [plainQuery(select)], isLast: false }) as [unknown[]];
    return row;
  };
  const { own, ofAll } = (await run('autocommit', limit, {})) as { own: unknown; ofAll: unknown };
  assert.equal(own, ofAll);
  await close();
});
