// PostgreSQL: the conformance suite with the engine's limits, and what only this engine does.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../js/service/search/index.js';
import { choosesByTime } from './cases/after_timestamp.js';
import { eventOf } from './cases/concurrency.js';
import { conforms } from '../../conforms.js';
import { says } from '../../service/fixture.js';
import { hearsOthers } from './cases/foreign_changes.js';
import { keepsItsLimits } from './cases/limits.js';
import { ordersAsJavaScript } from './cases/list_order.js';
import { appliesOnce } from './cases/mutations.js';
import { POSTGRESQL_EXPECTATIONS } from './cases/refusals.js';
import { knowsRetries } from './cases/retries.js';
import { searches } from './cases/searches.js';
import { cleared, emptied, postgresRows, type Server, startPostgres } from './servers.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

const newUrl = () => emptied('postgresql', server);
const open = (url: string) => new DatabaseSessionService(url);

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

conforms(
  'PostgreSQL',
  async (options) => {
    return new DatabaseSessionService(await cleared('postgresql', server), {
      ...options,
      durability: 'relaxed',
    });
  },
  { expectations: POSTGRESQL_EXPECTATIONS },
);
ordersAsJavaScript('PostgreSQL', newUrl);
searches('PostgreSQL', newUrl, postgresRows);
knowsRetries('PostgreSQL', newUrl, open);
appliesOnce('PostgreSQL', async (clock) => {
  return new DatabaseSessionService(await newUrl(), { clock: () => clock.now });
});
hearsOthers('PostgreSQL', newUrl, open);
choosesByTime('PostgreSQL', newUrl, open, postgresRows);
keepsItsLimits('PostgreSQL', newUrl, open);
it('a service with `pipeline: false` creates, appends and reads on PostgreSQL', async () => {
  const service = new DatabaseSessionService(await newUrl(), {
    driverOptions: { pipeline: false },
  });
  const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
  await service.appendEvent({ session, event: eventOf('e', { 'app:n': 1 }) });
  const stored = await service.getSession(KEY);
  assert.deepEqual([stored?.events.length, stored?.state], [1, { 'app:n': 1 }]);
  await service.close();
});

it('a first search of many sessions has PostgreSQL gather statistics: else it finds a session by reading all of the user', async () => {
  const url = await newUrl();
  await using service = new DatabaseSessionService(url);
  await service.createSession(KEY);
  await postgresRows(
    url,
    `insert into sessions select app_name, user_id, 's' || n, state, create_time, update_time
    from sessions, generate_series(1, 500) as n`,
  );
  const analyzed = `select distinct tablename from pg_stats where tablename = 'sessions'`;
  assert.deepEqual(await postgresRows(url, analyzed), []);
  const { appName, userId } = KEY;
  await sessionSearch(service).find({ appName, userId, query: 'tea' });
  assert.deepEqual(await postgresRows(url, analyzed), [{ tablename: 'sessions' }]);
});

it('PostgreSQL does not compress the words of a usual session: each search would decompress all of them', async () => {
  const url = await newUrl();
  await using service = new DatabaseSessionService(url);
  const events = [says('tea '.repeat(1500))];
  await service.createSession({ ...KEY, events });
  const { appName, userId } = KEY;
  await sessionSearch(service).find({ appName, userId, query: 'tea' });
  const stored = 'select pg_column_size(words) > 6000 as whole from adk_session_wasm_search';
  assert.deepEqual(await postgresRows(url, stored), [{ whole: true }]);
});

for (const time of ['infinity', '-infinity']) {
  it(`a list on PostgreSQL names the session whose time is ${time}`, async () => {
    const url = await newUrl();
    await using service = open(url);
    for (const sessionId of ['a', 'b']) await service.createSession({ ...KEY, sessionId });
    await postgresRows(url, `update sessions set update_time = '${time}' where id = 'b'`);
    const order = time === 'infinity' ? 'desc' : 'asc';
    await assert.rejects(service.listSessions({ appName: 'app', limit: 1, order }), {
      code: 'corrupt_record',
      record: 'session "b"',
    });
    await service.deleteSession({ ...KEY, sessionId: 'b' });
    const { sessions } = await service.listSessions({ appName: 'app', limit: 2, order });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['a'],
    );
  });
}

it('tables that another connection creates at the same instant are used on PostgreSQL', async () => {
  const url = await newUrl();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // PostgreSQL refuses so if the other connection commits between two of its checks.
  await client.query(`
    create sequence attempts;
    create function refuse_once() returns event_trigger language plpgsql as $$ begin
      if nextval('attempts') = 1 then
        raise exception 'type "sessions" already exists' using errcode = '42710';
      end if;
    end $$;
    create event trigger refused on ddl_command_start when tag in ('CREATE TABLE')
      execute function refuse_once();`);
  const service = open(url);
  assert.equal((await service.createSession(KEY)).id, KEY.sessionId);
  await service.close();
  await client.query('drop event trigger refused');
  await client.end();
});

it('an append on PostgreSQL prepares its statements again after a table was altered', async (t) => {
  const url = await newUrl();
  const service = open(url);
  const session = await service.createSession(KEY);
  // Several connections of the pool prepare the statements.
  const others = await Promise.all(
    ['a', 'b', 'c'].map((sessionId) => service.createSession({ ...KEY, sessionId })),
  );
  const appendAll = (id: string) =>
    Promise.all(others.map((session) => service.appendEvent({ session, event: eventOf(id) })));
  await appendAll('before');
  await service.appendEvent({ session, event: eventOf('before') });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('alter table events alter column id type varchar(200)');
  await client.end();
  await service.appendEvent({ session, event: eventOf('after') });
  await appendAll('after');
  const query = t.mock.method(pg.Client.prototype, 'query');
  await service.appendEvent({ session, event: eventOf('last') });
  const names = query.mock.calls.map(({ arguments: [sent] }) => Object(sent) as { name?: string });
  assert.ok(names.some(({ name }) => name?.startsWith('adk_session_wasm_')));
  const stored = await service.getSession(KEY);
  assert.deepEqual(
    stored?.events.map(({ id }) => id),
    ['before', 'after', 'last'],
  );
  await service.close();
});

describe('A JSONB column', () => {
  let service: DatabaseSessionService;
  before(async () => (service = open(await newUrl())));
  after(() => service.close());

  const states: [title: string, state: Record<string, unknown>, path: string][] = [
    ['a value', { cart: { items: ['tea', 'a\0b'] } }, 'cart.items[1]'],
    ['a nested key', { cart: { 'a\0b': 1 } }, String.raw`cart["a\u0000b"]`],
    ['a key', { 'a\0b': 1 }, String.raw`["a\u0000b"]`],
    ["an app's value", { 'app:a': 'a\0b' }, String.raw`["app:a"]`],
  ];
  for (const [title, state, path] of states) {
    it(`refuses U+0000 in ${title} with its path, and nothing is stored`, async () => {
      const refused = { code: 'unserializable', path };
      await assert.rejects(service.createSession({ ...KEY, state }), refused);
      assert.equal(await service.getSession(KEY), undefined);
      assert.deepEqual(await service.getAppState(KEY), {});
    });
  }

  it('refuses U+0000 in an event with its path, and the handle is unchanged', async () => {
    const session = await service.getOrCreateSession({ ...KEY, sessionId: 'event' });
    const content = { parts: [{ text: 'one' }, { text: 'a\0b' }] };
    const event = { ...eventOf('e', { n: 1 }), content };
    await assert.rejects(service.appendEvent({ session, event }), {
      code: 'unserializable',
      path: 'content.parts[1].text',
    });
    assert.deepEqual([session.events, session.state], [[], {}]);
    // The six characters of the escape are allowed.
    const text = { ...eventOf('e', { n: String.raw`\u0000` }) };
    await service.appendEvent({ session, event: text });
    const stored = await service.getSession({ ...KEY, sessionId: 'event' });
    assert.equal(stored?.state.n, String.raw`\u0000`);
  });

  it('sorts the keys within values of states and events, and changes nothing else', async () => {
    const value = { bb: 1, a: { z: 1, y: 2 }, c: 3 };
    const sorted = '{"a":{"y":2,"z":1},"c":3,"bb":1}';
    const session = await service.createSession({ ...KEY, sessionId: 'order', state: { value } });
    await service.appendEvent({ session, event: eventOf('e', { value }) });
    const stored = await service.getSession({ ...KEY, sessionId: 'order' });
    assert.equal(JSON.stringify(stored?.state), `{"value":${sorted}}`);
    assert.equal(JSON.stringify(stored?.events[0]?.actions.stateDelta), `{"value":${sorted}}`);
    assert.deepEqual(stored?.state, { value });
  });
});
