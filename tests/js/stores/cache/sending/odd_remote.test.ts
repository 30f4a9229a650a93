// Remotes whose answers contradict each other, and networks that answer in place of the remote.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../../js/stores/http/protocol.js';
import { event, hasCode, idsOf, KEY, openCache, Server } from '../fixture.js';

const OTHER = { ...KEY, sessionId: 's2' };

/** Answers as the handler does. */
function answer(value: unknown, status = 200): Response {
  return Response.json(value, { status, headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION } });
}

interface Contradiction {
  /** Leaves unsent changes of the session. */
  readonly write: (cache: CachedSessionService, server: Server) => Promise<unknown>;
  readonly intercept: (method: string, path: string) => Response | undefined;
  /** What the remote has of the session when its answers are right again. */
  readonly ids: readonly string[] | undefined;
}

const CONTRADICTIONS: Readonly<Record<string, Contradiction>> = {
  'A session that exists when it is created, and not when it is read,': {
    write: (cache) => cache.createSession(KEY),
    intercept(method, path) {
      if (!path.includes('/sessions') || path.includes(OTHER.sessionId)) return undefined;
      if (method === 'GET') return answer({ detail: 'Not there.', code: 'not_found' }, 404);
      return answer({ detail: 'It is there.', code: 'already_exists' }, 409);
    },
    ids: [],
  },
};

describe('Contradictory answers', () => {
  for (const [what, { write, intercept, ids }] of Object.entries(CONTRADICTIONS)) {
    it(`${what} is asked for again after a pause, and blocks no other session`, async () => {
      const server = new Server();
      const { cache } = openCache(server);
      await cache.createSession(OTHER);
      await cache.sync();
      const session = (await cache.getSession(OTHER))!;
      let isOdd = false;
      server.intercept = async ({ method, url }) => {
        // A network takes a moment, so timers may fire.
        await new Promise(setImmediate);
        return isOdd ? intercept(method, new URL(url).pathname) : undefined;
      };
      const written = write(cache, server);
      isOdd = true;
      await written;
      const { length } = server.requests;
      await cache.appendEvent({ session, event: event('plain') });
      await assert.rejects(cache.sync(), hasCode('remote'));
      assert.ok(server.requests.length - length < 200, String(server.requests.length));
      assert.match(cache.status.lastError?.message ?? '', /"s1" contradict each other/);
      assert.deepEqual(idsOf(await server.service.getSession(OTHER)), ['plain']);
      isOdd = false;
      await cache.sync();
      assert.deepEqual(idsOf(await server.service.getSession(KEY)), ids);
      await cache.close();
    });
  }
});

describe('A network that asks its user to log in counts as no connection if it answers with', () => {
  for (const [what, page] of [
    ['a page', () => new Response('<html>Welcome</html>')],
    ['status 400', () => new Response('Log in.', { status: 400 })],
    ['status 403', () => new Response('Log in.', { status: 403 })],
    ['nothing', () => new Response(null, { status: 204 })],
    ['a redirection', () => new Response(null, { status: 302, headers: { location: '/login' } })],
  ] as const) {
    it(what, async () => {
      const server = new Server();
      server.isHandler = false;
      server.intercept = () => Promise.resolve(page());
      const { cache } = openCache(server);
      const session = await cache.getOrCreateSession(KEY);
      await cache.appendEvent({ session, event: event('e1') });
      await assert.rejects(cache.sync());
      assert.equal(cache.status.isOnline, false);
      server.intercept = undefined;
      await cache.sync();
      assert.equal(cache.status.isOnline, true);
      assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
      await cache.close();
    });
  }
});
