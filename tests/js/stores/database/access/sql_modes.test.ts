// A MariaDB whose SQL mode does not take `\` for an escape: `mysql2` escapes values by it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kysely, MysqlDialect } from 'kysely';
import { createPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, type Server, startMariadb } from '../servers.js';

let server: Server;
before(async () => {
  server = await startMariadb();
  const connection = await createConnection({ host: '127.0.0.1', port: server.port, user: 'adk' });
  await connection.query("set global sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'");
  await connection.end();
});
after(() => server.remove());

const VICTIM = { appName: 'app', userId: 'ada', sessionId: 's1' };

describe('On a server with the SQL mode NO_BACKSLASH_ESCAPES', () => {
  for (const sessionId of ["x' or 1=1 -- ", "q'q", 'back\\slash', 'end\\']) {
    it(`the session ${sessionId} has only its own events, in every window`, async () => {
      await using service = new DatabaseSessionService(await emptied('mariadb', server));
      const session = await service.createSession(VICTIM);
      await service.appendEvent({ session, event: eventOf('of-ada') });
      const key = { appName: 'app', userId: 'mallory', sessionId };
      const own = await service.createSession(key);
      await service.appendEvent({ session: own, event: eventOf('own') });
      for (const config of [{}, { numRecentEvents: 5 }, { afterTimestamp: 0 }]) {
        const read = await service.getSession({ ...key, config });
        assert.deepEqual(
          read?.events.map(({ id }) => id),
          ['own'],
        );
      }
      const page = await service.listEvents({ ...key, limit: 5 });
      assert.deepEqual(
        page?.events.map(({ id }) => id),
        ['own'],
      );
    });
  }

  it('a character set of the connection that lacks characters is refused', async () => {
    const url = await emptied('mariadb', server);
    for (const charset of ['latin1', 'utf8']) {
      await using service = new DatabaseSessionService(url, { driverOptions: { charset } });
      await assert.rejects(service.ping(), (error) => {
        assert.ok(isSessionError(error, 'storage_unavailable'));
        assert.match(error.message, /character set (?:latin1|utf8mb3)/);
        return true;
      });
    }
  });

  it('a Kysely whose connections have this mode is refused', async () => {
    const uri = (await emptied('mariadb', server)).replace('mariadb:', 'mysql:');
    const kysely = new Kysely<unknown>({
      dialect: new MysqlDialect({ pool: createPool({ uri }) }),
    });
    const service = new DatabaseSessionService({ kysely, engine: 'mysql' });
    await assert.rejects(service.ping(), (error) => {
      assert.ok(isSessionError(error, 'storage_unavailable'));
      assert.match(error.message, /NO_BACKSLASH_ESCAPES/);
      return true;
    });
    await service.close();
    await kysely.destroy();
  });
});
