// Which statements the service sends, as a user's Kysely sees them.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { createEvent } from '../../../../js/index.js';

const APP = { appName: 'app' };
const USER = { ...APP, userId: 'user' };
const KEY = { ...USER, sessionId: 's1' };

describe('The service over SQLite', () => {
  let kysely: Kysely<unknown>;
  let service: DatabaseSessionService;
  const sent: string[] = [];
  before(async () => {
    kysely = new Kysely<unknown>({
      dialect: new SqliteDialect({ database: new Sqlite(':memory:') }),
      log: ({ query }) => void sent.push(query.sql),
    });
    service = new DatabaseSessionService({ kysely, engine: 'sqlite' });
    for (const sessionId of ['s1', 's2', 's3']) {
      await service.createSession({ ...USER, sessionId, state: { 'app:a': 1, 'user:u': 1 } });
    }
  });
  after(async () => {
    await service.close();
    await kysely.destroy();
  });

  it('counts no sessions where the total is not wanted', async () => {
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

  it('reads the floor only where a row is absent', async () => {
    const session = await service.getSession(KEY);
    assert.ok(session);
    sent.length = 0;
    await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
    const reading = sent.filter((text) => /adk_session_wasm_metadata|adk_internal_metadata/.test(text)); // prettier-ignore
    for (const text of reading) assert.match(text, /case when .* is null then/s);
  });
});
