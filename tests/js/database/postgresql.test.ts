// PostgreSQL: the conformance suite with what is different there, several writers at once, and its end.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { letsGo, losesNothing, survivesItsServer } from './concurrency.js';
import { conforms } from './conforms.js';
import { ordersAsJavaScript } from './list_order.js';
import { emptied, type Server, startPostgres } from './servers.js';

let server: Server;
before(async () => (server = await startPostgres()));
after(() => server.remove());

const newUrl = () => emptied('postgresql', server);
const open = (url: string) => new DatabaseSessionService(url);

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
  const key = { appName: 'app', userId: 'user', sessionId: 'session' };
  const state = { cart: { items: ['tea', 'a\0b'] } };
  await assert.rejects(service.createSession({ ...key, state }), {
    code: 'unserializable',
    path: 'cart.items[1]',
  });
  assert.equal(await service.getSession(key), undefined);
  await service.close();
});
