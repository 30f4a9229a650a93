// What the databases report to `onDiagnostic`, and how `ping` and `close` behave with a real server.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import type { Diagnostic } from '../../../../js/index.js';
import { eventOf } from './cases/concurrency.js';
import { emptied, type Server, type ServerName, SERVERS } from './servers.js';
import { newFolder } from '../../../new_folder.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

for (const engine of Object.keys(SERVERS) as ServerName[]) {
  describe(`A service over ${engine}`, () => {
    let server: Server;
    before(async () => (server = await SERVERS[engine].start()));
    after(() => server.remove());

    /** A service, and the list of what it reports. */
    async function opened() {
      const seen: Diagnostic[] = [];
      const url = await emptied(engine, server);
      const onDiagnostic = (diagnostic: Diagnostic) => seen.push(diagnostic);
      const service = new DatabaseSessionService(url, { onDiagnostic, timeoutMs: 2000 });
      return { seen, service, url };
    }

    it('reports how many appends shared a transaction', async () => {
      const { seen, service } = await opened();
      const sessions = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((n) => service.createSession({ ...KEY, sessionId: `s${n}` })),
      );
      seen.length = 0;
      await Promise.all(
        sessions.map((session, n) => service.appendEvent({ session, event: eventOf(`e${n}`) })),
      );
      const sizes = seen.map((diagnostic) =>
        diagnostic.kind === 'call' ? diagnostic.groupSize : 0,
      );
      assert.equal(sizes.length, 6);
      assert.ok(Math.max(...sizes.map(Number)) > 1, sizes.join());
      await service.close();
    });

    it('reports a connection of its pool that is lost, and a server that is away', async () => {
      const { seen, service } = await opened();
      await service.ping();
      await server.kill();
      for (let tries = 0; !seen.some(({ kind }) => kind === 'connection'); tries += 1) {
        assert.ok(tries < 3000, JSON.stringify(seen));
        await pause(10);
      }
      await assert.rejects(service.ping(), ({ code }: Error & { code?: unknown }) =>
        ['storage_unavailable', 'connection_lost'].includes(String(code)),
      );
      await server.start();
      await service.ping();
      await service.close();
    });

    it('closes in time if the server is frozen', async () => {
      const { service } = await opened();
      const session = await service.createSession(KEY);
      await server.suspend();
      const append = service.appendEvent({ session, event: eventOf('e') });
      const failed = assert.rejects(append, { code: 'connection_lost' });
      await service.close({ timeoutMs: 300 });
      await failed;
      server.resume();
    });
  });
}

/** The method, the retries and the size of the group of each call. */
function callsOf(seen: readonly Diagnostic[]) {
  return seen.map((one) =>
    one.kind === 'call' ? [one.method, one.retries, one.groupSize] : [one.kind],
  );
}

describe('The retries of PostgreSQL', () => {
  it('are counted for each append that shares the transaction', async () => {
    const server = await SERVERS.postgresql.start();
    const seen: Diagnostic[] = [];
    const url = await emptied('postgresql', server);
    const service = new DatabaseSessionService(url, { onDiagnostic: (one) => seen.push(one) });
    const sessions = await Promise.all(
      [1, 2, 3].map((n) => service.createSession({ ...KEY, sessionId: `s${n}` })),
    );
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create sequence attempts;
      create function refuse_twice() returns trigger language plpgsql as $$ begin
        if nextval('attempts') <= 2 then
          raise exception 'restart transaction' using errcode = '40001';
        end if; return new; end $$;
      create trigger refused before insert on events for each row execute function refuse_twice()`);
    await client.end();
    seen.length = 0;
    await Promise.all(
      sessions.map((session) => service.appendEvent({ session, event: eventOf('e') })),
    );
    assert.deepEqual(callsOf(seen), [
      ['appendEvent', 2, 3],
      ['appendEvent', 2, 3],
      ['appendEvent', 2, 3],
    ]);
    await service.close();
    await server.remove();
  });
});

describe('The retries of SQLite', () => {
  it('are counted while another connection holds the lock of the file', async () => {
    const folder = newFolder();
    const path = join(folder, 'busy.db');
    const seen: Diagnostic[] = [];
    const service = new DatabaseSessionService(`sqlite:${path}`, {
      onDiagnostic: (one) => seen.push(one),
    });
    const session = await service.createSession(KEY);
    const other = new Sqlite(path);
    other.exec('begin immediate');
    const append = service.appendEvent({ session, event: eventOf('e') });
    await pause(20);
    other.exec('rollback');
    await append;
    other.close();
    const { length } = seen;
    const [create, appended] = callsOf(seen);
    assert.deepEqual([length, create], [2, ['createSession', 0, undefined]]);
    const [method, retries, groupSize] = appended ?? [];
    assert.deepEqual([method, groupSize], ['appendEvent', 1]);
    assert.ok(Number(retries) >= 1, String(retries));
    await service.close();
  });
});
