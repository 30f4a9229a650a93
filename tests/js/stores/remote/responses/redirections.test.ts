// Hosts that redirect each path to the same one with a slash at its end, as Next and SvelteKit can be told to.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  type SessionService,
} from '../../../../../js/index.js';
import { fetchFrom, handlerOn, KEY, openRemote } from '../fixture.js';

/** Redirects what has no slash at the end of its path, as a host before the handler does. */
function redirecting(status: number, locationOf: (url: URL) => string) {
  const service = new InMemorySessionService();
  const handled = fetchFrom(handlerOn(service));
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const url = new URL(new Request(input).url);
    requests.push(`${init?.method} ${url.pathname}`);
    if (url.pathname.endsWith('/')) return handled(input, init);
    const location = locationOf(url);
    return Promise.resolve(new Response(null, { status, headers: { location } }));
  };
  return { service, fetch, requests };
}

const withSlash = (url: URL): string => `${url.pathname}/${url.search}`;

/** Writes, reads and watches. */
async function use(remote: SessionService): Promise<void> {
  const session = await remote.createSession({ ...KEY, state: { topic: 'tea' } });
  const notices = remote.watch({ appName: KEY.appName, userId: KEY.userId });
  assert.equal((await notices.next()).value?.type, 'resync');
  await remote.appendEvent({ session, event: createEvent({ id: 'e1', author: 'user' }) });
  await notices.return();
  const { sessions } = await remote.listSessions({ ...KEY, limit: 10, page: 1 });
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ['s1'],
  );
  assert.equal((await remote.getSession(KEY))?.events[0]?.id, 'e1');
}

describe('A client works over a host that redirects to a slash at the end', () => {
  for (const status of [307, 308]) {
    it(`with status ${status}`, async () => {
      const { fetch } = redirecting(status, withSlash);
      const { remote } = openRemote({ fetch });
      await use(remote);
      await remote.close();
    });
  }

  it('in a page, which is not told where a redirection leads', async () => {
    const { fetch: redirect } = redirecting(308, withSlash);
    const { remote } = openRemote({
      async fetch(input, init) {
        const response = await redirect(input, init);
        if (response.status !== 308) return response;
        // `Response` cannot make one of this type.
        return Object.create(Response.error(), {
          type: { value: 'opaqueredirect' },
        }) as Response;
      },
    });
    await use(remote);
    await remote.close();
  });
});

describe('A client does not follow a redirection', () => {
  const refused = async (status: number, locationOf: (url: URL) => string): Promise<string[]> => {
    const { fetch, requests } = redirecting(status, locationOf);
    const { remote } = openRemote({ fetch, retries: 0 });
    await assert.rejects(remote.getSession(KEY), (error) => isSessionError(error));
    await remote.close();
    return requests;
  };

  it('to another origin, which would get the credentials', async () => {
    const requests = await refused(307, () => 'http://other.example/api/version/');
    assert.deepEqual(requests, ['GET /api/version']);
  });

  it('of a status that may change the method', async () => {
    assert.deepEqual(await refused(302, withSlash), ['GET /api/version']);
  });

  it('without an end', async () => {
    const requests = await refused(307, ({ pathname }) => `${pathname}x`);
    assert.equal(requests.length, 6);
  });
});
