// Services behind PgBouncer in transaction mode: each reads its own rows.

import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, type Server, startPgBouncer, startPostgres } from '../servers.js';

let server: Server;
let pooler: Server;
before(async () => {
  server = await startPostgres();
});
after(() => server.remove());
afterEach(() => pooler.remove());

const KEY = { appName: 'app', userId: 'user' };
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function open(connections: number, options = {}): Promise<() => DatabaseSessionService> {
  await emptied('postgresql', server);
  pooler = await startPgBouncer(server.port, connections);
  const url = `postgresql://adk@127.0.0.1:${pooler.port}/adk`;
  return () => new DatabaseSessionService(url, options);
}

for (const pipeline of [true, false]) {
  it(`services behind a pooler read their own rows, pipeline: ${pipeline}`, async () => {
    const openService = await open(2, { driverOptions: { pipeline } });
    // Each service prepares the statements in another order.
    const writer = openService();
    const session = await writer.createSession({ ...KEY, sessionId: 'six' });
    for (const id of IDS) await writer.appendEvent({ session, event: eventOf(id, { [id]: 1 }) });
    const last = openService();
    const window = await last.getSession({
      ...KEY,
      sessionId: 'six',
      config: { numRecentEvents: 2 },
    });
    assert.deepEqual(
      window?.events.map(({ id }) => id),
      ['e', 'f'],
    );
    const lister = openService();
    assert.equal((await lister.listSessions({ ...KEY, limit: 1 })).sessions.length, 1);
    const services = [writer, last, lister, openService()];
    for (let round = 0; round < 10; round += 1) {
      const reads = services.flatMap((service) => [
        service.getSession({ ...KEY, sessionId: 'six' }),
        service.getSession({ ...KEY, sessionId: 'six', config: { numRecentEvents: 3 } }),
      ]);
      for (const [index, read] of (await Promise.all(reads)).entries()) {
        assert.deepEqual(
          read?.events.map(({ id }) => id),
          index % 2 === 0 ? IDS : IDS.slice(3),
        );
      }
    }
    for (const service of services) await service.close();
  });
}

it('transactions that fail at the same time behind a pooler are all retried', async () => {
  const openService = await open(4, { driverOptions: { max: 8 } });
  const first = openService();
  const second = openService();
  await first.ping();
  // Eight run at the same time. The first failure stops the use of prepared statements while the others still run.
  const ids = Array.from({ length: 24 }, (_, index) => `s${index}`);
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(
      ids.map((id, index) => {
        const service = index % 2 === 0 ? first : second;
        return service.getOrCreateSession({ ...KEY, sessionId: `${round}${id}` });
      }),
    );
  }
  assert.equal((await first.listSessions(KEY)).sessions.length, 72);
  await first.close();
  await second.close();
});

const RECORDS = `
  create table commits (way text);
  create function record() returns trigger language plpgsql as $$ begin
    insert into commits values (current_setting('synchronous_commit'));
    return new;
  end $$;
  create trigger records before insert on events for each row execute function record()`;

const PLACES: [title: string, portOf: () => number, parameters: string][] = [
  ['behind a pooler', () => pooler.port, ''],
  ['beside options of the URL', () => server.port, '?options=-c%20geqo%3Doff'],
];
for (const [title, portOf, parameters] of PLACES) {
  it(`durability 'relaxed' takes effect ${title}`, async () => {
    await open(2);
    const url = `postgresql://adk@127.0.0.1:${portOf()}/adk${parameters}`;
    const service = new DatabaseSessionService(url, { durability: 'relaxed' });
    const session = await service.createSession({ ...KEY, sessionId: 'relaxed' });
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'adk' });
    await client.connect();
    await client.query(RECORDS);
    await service.appendEvent({ session, event: eventOf('e', { n: 1 }) });
    const { rows } = await client.query('select way from commits');
    assert.deepEqual(rows, [{ way: 'off' }]);
    await client.end();
    await service.close();
  });
}

it('a pipelined read reports the error of its first failed statement', async () => {
  const openService = await open(1);
  const service = openService();
  await service.createSession({ ...KEY, sessionId: 's' });
  const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'adk' });
  await client.connect();
  await client.query('alter table app_states rename to gone');
  await client.end();
  await assert.rejects(service.getSession({ ...KEY, sessionId: 's' }), /app_states.*not exist/);
  await service.close();
});
