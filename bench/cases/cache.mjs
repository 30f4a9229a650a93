// The cache of `adk-session-wasm/cache` in real browsers, and what it costs with many sessions, in Node.

import { InMemorySessionService } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { sessionHandler } from 'adk-session-wasm/server';
import { withPages } from '../browser/pages.mjs';
import { eventsNow } from '../browser/stores/stores.mjs';
import { user } from '../browser/stores/user.mjs';
import { atMost, timesInTurns, median } from '../measure.mjs';

const PAGES = ['cached-reads', 'cached-appends', 'drain'];
const UNSENT = 2000;
const LISTED = 500;

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function cache(browserNames) {
  const results = [];
  for (const browserName of browserNames) {
    for (const page of PAGES) {
      /** @type {import('../measure.mjs').Result[]} */
      const measured = await withPages(browserName, (run) => run(page));
      results.push(...measured.map((result) => ({ ...result, case: `${browserName}: ${result.case}` }))); // prettier-ignore
    }
  }
  return [...results, ...(await unsent()), await message()];
}

/** A cache over memory, whose connection can be cut and counts its bytes. */
function openCache() {
  const server = new InMemorySessionService();
  const handler = sessionHandler(server, {
    authorize: () => ({
      mayWriteAgentEvents: true,
      mayWriteUserState: true,
      mayWriteAppState: true,
    }),
  });
  const connection = { isCut: false, bytes: 0 };
  const remote = new RemoteSessionService({
    url: 'http://bench',
    retries: 0,
    async fetch(input, init) {
      if (connection.isCut) throw new TypeError('the connection is cut');
      const request = new Request(input, init);
      const path = new URL(request.url);
      connection.bytes += path.pathname.length + path.search.length;
      connection.bytes += (await request.clone().text()).length;
      const response = await handler(request);
      const isFeed = response.headers.get('content-type')?.includes('event-stream') === true;
      if (!isFeed) connection.bytes += (await response.clone().text()).length;
      return response;
    },
  });
  const cache = new CachedSessionService({ remote, owner: 'bench', local: 'memory' });
  return { server, remote, cache, connection };
}

/** Writes in many sessions offline, then sends all. */
async function unsent() {
  /** @param {number} count */
  const cpuOf = async (count) => {
    const { remote, cache, connection } = openCache();
    connection.isCut = true;
    const before = process.cpuUsage();
    for (let number = 0; number < count; number += 1) {
      const session = await cache.createSession({ ...user, sessionId: `unsent ${number}` });
      await cache.appendEvent({ session, event: eventsNow(1, number)[0] });
    }
    connection.isCut = false;
    await cache.sync();
    const { user: own, system } = process.cpuUsage(before);
    const [rest] = await cache.outbox.list();
    if (rest !== undefined) throw new Error('not everything was sent', { cause: rest.error });
    await cache.close();
    await remote.close();
    return (own + system) / 1000;
  };
  const { all, half } = await timesInTurns(
    { all: () => cpuOf(UNSENT), half: () => cpuOf(UNSENT / 2) },
    { rounds: 3, warmUp: 1 },
  );
  const [ours, peer] = [median(all), median(half)];
  const name = `${UNSENT} unsent sessions, written and sent, with the handler`;
  return [
    atMost({ case: name, ours, peer: 1000, unit: 'ms of CPU', most: 1, than: 'a second' }),
    atMost({ case: name, ours, peer, unit: 'ms of CPU', most: 2.2, than: 'half as many' }),
  ];
}

/** Counts what a message costs beside many conversations. */
async function message() {
  const { server, remote, cache, connection } = openCache();
  for (let number = 0; number < LISTED; number += 1) {
    const session = await server.createSession({ ...user, sessionId: `listed ${number}` });
    await server.appendEvents({ session, events: eventsNow(10, number * 10) });
  }
  await cache.listSessions(user);
  const session = await cache.getSession({ ...user, sessionId: 'listed 7' });
  if (session === undefined) throw new Error('the session is missing');
  await cache.sync();
  const [event] = eventsNow(1, 99_999);
  const before = connection.bytes;
  await cache.appendEvent({ session, event });
  await cache.listSessions(user);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const ours = connection.bytes - before - JSON.stringify(event).length;
  await cache.close();
  await remote.close();
  const name = `a message and a list at ${LISTED} conversations, beside its event`;
  return atMost({ case: name, ours, peer: 10_000, unit: 'bytes', most: 1, than: '10 KB' });
}
