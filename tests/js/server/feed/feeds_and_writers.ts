// Writers over HTTP, and feeds that are open all the time.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { httpServer } from '../../../http_server.js';
import type { Event, SessionService } from '../../../../js/index.js';
import type { SessionNotice } from '../../../../js/values/model/notice.js';
import { nodeListener, sessionHandler } from '../../../../js/server/index.js';
import { type FeedEvent, feedEvents } from '../fixture.js';

const FEEDS = 200;
const WRITERS = 50;

/**
 * Opens 200 feeds, each of which follows one of 50 writers. Checks that the revisions grow in each feed, and that
 * each feed gets the last change of its writer.
 *
 * @param isEnough whether a writer stops that has appended `count` events
 */
export async function feedsAndWriters(
  service: SessionService,
  isEnough: (count: number) => boolean,
): Promise<void> {
  const listener = nodeListener(sessionHandler(service, { authorize: () => true }));
  const server = httpServer((request, response) => void listener(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const feeds = await Promise.all(
    Array.from({ length: FEEDS }, async (_, number) => {
      const writer = number % WRITERS;
      const path = `${origin}/apps/shop/changes?userId=u${writer}`;
      return { writer, revision: 0, events: feedEvents(await fetch(path)) };
    }),
  );
  const followed = Promise.all(feeds.map(follow));
  const revisions = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const path = `${origin}/apps/shop/users/u${writer}/sessions/s`;
      await post(path, {});
      let revision = 0;
      for (let count = 0; !isEnough(count); count += 1) revision = await append(path, count);
      return revision;
    }),
  );
  // A feed that misses the last change never ends this wait, and the test runs out of time.
  const haveAll = async (): Promise<void> => {
    while (feeds.some(({ writer, revision }) => revision !== revisions[writer])) await pause(10);
  };
  await Promise.race([haveAll(), followed]);
  server.closeAllConnections();
  server.close();
}

interface Feed {
  readonly writer: number;
  readonly events: AsyncIterable<FeedEvent>;
  /** The newest that was told. */
  revision: number;
}

async function follow(feed: Feed): Promise<void> {
  for await (const { data } of feed.events) {
    const { sessionId, userId, revision } = data as SessionNotice;
    assert.deepEqual([userId, sessionId], [`u${feed.writer}`, 's']);
    assert.ok(revision > feed.revision, `${revision} after ${feed.revision}`);
    feed.revision = revision;
  }
}

async function append(sessionPath: string, number: number): Promise<number> {
  const event: Partial<Event> = { id: `e${number}`, author: 'user' };
  const { revision } = await post<{ revision: number }>(`${sessionPath}/events`, {
    events: [event],
  });
  return revision;
}

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
