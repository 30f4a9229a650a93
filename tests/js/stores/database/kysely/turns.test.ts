// Transactions of services over one SQLite file, each with a Kysely of the user.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { type DatabaseConnection, Kysely, SqliteDialect } from 'kysely';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { newFolder } from '../../../../new_folder.js';
import { eventOf } from '../cases/concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** A dialect that calls a function before each statement. */
class WatchedDialect extends SqliteDialect {
  readonly #before: (text: string) => Promise<void> | void;

  constructor(file: string, before: (text: string) => Promise<void> | void) {
    super({ database: new Sqlite(file) });
    this.#before = before;
  }

  override createDriver() {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async () => {
      const connection = await acquire();
      const execute = connection.executeQuery.bind(connection);
      const watched: DatabaseConnection['executeQuery'] = async (query) => {
        await this.#before(query.sql);
        return execute(query as never) as never;
      };
      return { executeQuery: watched, streamQuery: connection.streamQuery.bind(connection) };
    };
    return driver;
  }
}

function open(file: string, before: (text: string) => Promise<void> | void) {
  const kysely = new Kysely<unknown>({ dialect: new WatchedDialect(file, before) });
  const service = new DatabaseSessionService({ kysely, engine: 'sqlite' });
  const close = async (): Promise<void> => {
    await service.close();
    await kysely.destroy();
  };
  return { service, close };
}

it('A transaction on a SQLite file begins after an aborted one is rolled back', async () => {
  const file = join(newFolder(), 'a.db');
  const ends: string[] = [];
  const held: { gate?: Promise<void> } = {};
  let sent = (): void => undefined;
  const first = open(file, async (text) => {
    if (text.startsWith('insert into "events"')) {
      sent();
      await held.gate;
    }
    if (held.gate !== undefined && text === 'rollback') ends.push('first rolls back');
  });
  const second = open(file, (text) => {
    if (held.gate !== undefined && text === 'begin') ends.push('second begins');
  });
  const session = await first.service.createSession(KEY);
  const other = await second.service.createSession({ ...KEY, sessionId: 'other' });
  const isSent = new Promise<void>((resolve) => (sent = resolve));
  let answer = (): void => undefined;
  held.gate = new Promise<void>((resolve) => (answer = resolve));
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = first.service.appendEvent({ session, event: eventOf('a'), signal });
  await isSent;
  controller.abort();
  await assert.rejects(aborted, { code: 'aborted' });
  const append = second.service.appendEvent({ session: other, event: eventOf('b') });
  setImmediate(answer);
  await append;
  assert.deepEqual(ends.slice(0, 2), ['first rolls back', 'second begins']);
  assert.deepEqual((await first.service.getSession(KEY))?.events, []);
  for (const { close } of [first, second]) await close();
});

it('A service that cannot ask for its file fails, and asks again at the next call', async () => {
  let questions = 0;
  const { service, close } = open(join(newFolder(), 'a.db'), (text) => {
    if (!text.includes('pragma_database_list')) return;
    questions += 1;
    if (questions > 1) return;
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_CANTOPEN' });
  });
  await assert.rejects(service.ping(), { code: 'storage_unavailable' });
  await service.createSession(KEY);
  assert.ok(questions > 1);
  await close();
});
