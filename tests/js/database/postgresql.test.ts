// PostgreSQL: the conformance suite with what is different there, several writers at once, and its end.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import pg from 'pg';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { eventOf, letsGo, losesNothing, survivesItsServer } from './concurrency.js';
import { conforms } from './conforms.js';
import { ordersAsJavaScript } from './list_order.js';
import { emptied, type Server, startPostgres } from './servers.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

const newUrl = () => emptied('postgresql', server);
const open = (url: string) => new DatabaseSessionService(url);

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

const ANOTHER_ORDER = /\.keys is/;
const REFUSED_ID = /createSession ended with invalid_argument/;
const REFUSED_TEXT = /ended with unserializable/;

conforms(
  'PostgreSQL',
  async (options) => {
    return new DatabaseSessionService(await newUrl(), { ...options, durability: 'relaxed' });
  },
  {
    'sessions of one time are ordered by id as JavaScript compares strings': REFUSED_ID,
    "no separator in an id can reach another's data": REFUSED_ID,
    'ids of any characters work from create to delete': REFUSED_ID,
    'ids of 512 bytes are the longest, and their last byte counts': REFUSED_ID,
    'fields of an event that nobody knows come back to the letter': REFUSED_TEXT,
    'state keys may hold any text': REFUSED_TEXT,
    'text of any script and control characters come back to the letter': REFUSED_TEXT,
    'a changed key keeps its place, and one that was removed comes back last': ANOTHER_ORDER,
    'the order of members is kept at every level': ANOTHER_ORDER,
  },
);
ordersAsJavaScript('PostgreSQL', newUrl);
losesNothing('PostgreSQL', newUrl, open);
letsGo('PostgreSQL', newUrl);
survivesItsServer('PostgreSQL', newUrl, open, async () => {
  await server.kill();
  await server.start();
});

it('U+0000 on PostgreSQL is refused with its path, and nothing is stored', async () => {
  const service = open(await newUrl());
  const state = { cart: { items: ['tea', 'a\0b'] } };
  await assert.rejects(service.createSession({ ...KEY, state }), {
    code: 'unserializable',
    path: 'cart.items[1]',
  });
  assert.equal(await service.getSession(KEY), undefined);
  await service.close();
});

it('PostgreSQL by a driver that sends one query at a time does the same', async () => {
  const service = new DatabaseSessionService(await newUrl(), {
    driverOptions: { pipeline: false },
  });
  const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
  await service.appendEvent({ session, event: eventOf('e', { 'app:n': 1 }) });
  const stored = await service.getSession(KEY);
  assert.deepEqual([stored?.events.length, stored?.state], [1, { 'app:n': 1 }]);
  await service.close();
});

it('statements that PostgreSQL knows by name are given anew when a table was altered', async () => {
  const url = await newUrl();
  const service = open(url);
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: eventOf('before') });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('alter table events alter column id type varchar(200)');
  await client.end();
  await service.appendEvent({ session, event: eventOf('after') });
  const stored = await service.getSession(KEY);
  assert.deepEqual(
    stored?.events.map(({ id }) => id),
    ['before', 'after'],
  );
  await service.close();
});
