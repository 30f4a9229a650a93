import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';

import { type Event, InMemorySessionService, type SessionNotice } from '../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../js/server/index.js';
import { feedEvents } from './fixture.js';

const FEEDS = 200;
const WRITERS = 50;
/** Events that each writer appends. */
const APPENDS = 20;

it('200 feeds over HTTP get the last change of each of 50 writers, in order', async () => {
  const service = new InMemorySessionService();
  const listener = nodeListener(sessionHandler(service, { authorize: () => true }));
  const server = createServer((request, response) => void listener(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sessionPath = (writer: number) => `/apps/shop/users/u${writer}/sessions/s`;

  const feeds = await Promise.all(
    Array.from({ length: FEEDS }, async (_, feed) => {
      const writer = feed % WRITERS;
      const response = await fetch(`${origin}/apps/shop/changes?userId=u${writer}&sessionId=s`);
      return { writer, events: feedEvents(response) };
    }),
  );
  const revisions = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      await post(origin + sessionPath(writer), {});
      let revision = 0;
      for (let number = 0; number < APPENDS; number += 1) {
        const event: Partial<Event> = { id: `e${number}`, author: 'user' };
        const path = `${origin}${sessionPath(writer)}/events`;
        ({ revision } = await post<{ revision: number }>(path, { events: [event] }));
      }
      return revision;
    }),
  );
  await Promise.all(
    feeds.map(async ({ writer, events }) => {
      let last = 0;
      for await (const { data } of events) {
        const { sessionId, userId, revision } = data as SessionNotice;
        assert.deepEqual([userId, sessionId], [`u${writer}`, 's']);
        assert.ok(revision > last, `${revision} after ${last}`);
        last = revision;
        if (last === revisions[writer]) break;
      }
    }),
  );
  await service.close();
  server.closeAllConnections();
  server.close();
});

async function post<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as T;
}
