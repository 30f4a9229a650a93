// Servers and proxies that answer something else than they were asked.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../../js/stores/http/protocol.js';
import {
  createEvent,
  type Diagnostic,
  type Event,
  isSessionError,
} from '../../../../../js/index.js';
import type { RemoteSessionOptions } from '../../../../../js/service/remote/index.js';
import { fetchFrom, KEY, openRemote } from '../fixture.js';

/** Opens a remote whose requests may be answered, or changed, on the way to the handler. */
function openBehind(
  proxy: (url: string, init?: RequestInit) => Response | string | undefined,
  options: Partial<RemoteSessionOptions> = {},
) {
  const { handler, service } = openRemote();
  const send = fetchFrom(handler);
  const seen: Diagnostic[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = proxy(input as string, init);
    // A network takes a moment, so timers may fire.
    await new Promise(setImmediate);
    if (!(answer instanceof Response)) return send(answer ?? input, init);
    // It stands for the handler, as no proxy would send JSON.
    if (answer.headers.get('content-type') === 'application/json')
      answer.headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION);
    return answer;
  };
  const onDiagnostic = (diagnostic: Diagnostic) => seen.push(diagnostic);
  const { remote } = openRemote({ fetch, retries: 0, onDiagnostic, ...options });
  return { service, remote, seen };
}

describe('A remote service refuses', () => {
  for (const [from, to] of [
    ['/sessions/s1', '/sessions/s2'],
    ['/users/ada', '/users/bob'],
    ['/apps/shop', '/apps/other'],
  ] as const) {
    it(`the session of ${to} in place of ${from}`, async () => {
      const { service, remote } = openBehind((url) => url.replace(from, to));
      for (const appName of ['shop', 'other']) {
        for (const userId of ['ada', 'bob']) {
          for (const sessionId of ['s1', 's2']) {
            await service.createSession({ appName, userId, sessionId, state: { userId } });
          }
        }
      }
      await assert.rejects(remote.getSession(KEY), { code: 'remote', message: /something else/ });
    });
  }

  it('a creation by adk api_server whose storage strips white space from the id', async () => {
    // `openBehind` marks answers with the content type of JSON as the handler's. These answers have none.
    const json = (value: unknown) => new Response(JSON.stringify(value));
    const { remote } = openBehind((url, init) => {
      if (url.endsWith('/version')) return json({ language: 'python' });
      const { sessionId: given } = JSON.parse(init?.body as string) as { sessionId: string };
      const session = { id: given.trim(), state: {}, events: [], lastUpdateTime: 5 };
      return json({ appName: KEY.appName, userId: KEY.userId, ...session });
    });
    assert.equal((await remote.createSession(KEY)).id, 's1');
    const padded = { ...KEY, sessionId: ' s1' };
    await assert.rejects(remote.createSession(padded), { code: 'connection_lost' });
  });

  it('a missing session where none was asked for', async () => {
    const { remote } = openBehind((url) =>
      /\/(sessions|state)\b(?!\/)/.test(url)
        ? Response.json({ detail: 'Session not found', code: 'not_found' }, { status: 404 })
        : undefined,
    );
    for (const call of [
      () => remote.listSessions({ appName: 'shop' }),
      () => remote.getUserState({ appName: 'shop', userId: 'ada' }),
      () => remote.getAppState({ appName: 'shop' }),
    ]) {
      await assert.rejects(call, { code: 'not_found' });
    }
  });

  it('the creation of another session', async () => {
    const { remote } = openBehind((_, init) => {
      if (init?.method === 'POST') init.body = (init.body as string).replace('"s1"', '"s2"');
      return undefined;
    });
    await assert.rejects(remote.createSession(KEY), { code: 'connection_lost' });
  });
});

it('An event whose author and invocation are no texts is read over HTTP', async () => {
  const { service, remote } = openBehind(() => undefined);
  const session = await service.createSession(KEY);
  const event = { ...createEvent({ id: 'e1', author: 'user' }), author: 5, invocationId: 7 };
  await service.appendEvent({ session, event: event as unknown as Event });
  const { events } = (await remote.getSession(KEY))!;
  assert.deepEqual(events, (await service.getSession(KEY))!.events);
  assert.deepEqual((await remote.listEvents(KEY)).events, events);
  const changes = await remote.listChanges({ ...KEY, since: 1 });
  assert.deepEqual(
    changes.events?.map(({ event }) => event),
    events,
  );
  assert.deepEqual((await remote.getEvents({ ...KEY, eventIds: ['e1'] })).events, changes.events);
});

it('A damaged event and damaged labels make neither a session nor a list unreadable', async () => {
  const damaged = { id: 5, timestamp: null };
  const { appName, userId, sessionId: id } = KEY;
  const labels = { a: 1, b: '2' };
  const session = { id, appName, userId, state: {}, lastUpdateTime: 5, labels };
  const { remote } = openBehind((url) => {
    if (url.includes('/sessions/s1')) return Response.json({ ...session, events: [{}, damaged] });
    if (!url.includes('/sessions')) return undefined;
    const revisions = [{ created: 1, revision: 1 }];
    const page = { page: 1, limit: 1000, totalItems: 1, totalPages: 1 };
    return Response.json({ ...page, sessions: [{ ...session, events: [] }], revisions });
  });
  const read = await remote.getSession(KEY);
  assert.deepEqual([read?.events, read?.labels], [[{}, damaged], labels]);
  const { sessions } = await remote.listSessions({ appName, userId });
  assert.deepEqual(
    sessions.map(({ labels }) => labels),
    [labels],
  );
});

it('A list ends although each of its pages is empty and names a next one', async () => {
  let pages = 0;
  const { remote } = openBehind((url) => {
    if (!url.includes('/apps/shop/sessions')) return undefined;
    pages += 1;
    assert.ok(pages < 10);
    const page = { page: 1, limit: 1000, totalItems: 0 };
    return Response.json({ ...page, sessions: [], revisions: [], nextCursor: `c${pages}` });
  });
  assert.deepEqual((await remote.listSessions({ appName: 'shop' })).sessions, []);
});

it('A list whose pages never end stops at the timeout of the call', async () => {
  const session = { id: 's1', appName: 'shop', userId: 'ada', state: {}, events: [] };
  const page = {
    sessions: [{ ...session, lastUpdateTime: 5 }],
    revisions: [{ created: 1, revision: 1 }],
    page: 1,
    limit: 1000,
    totalItems: 2,
    nextCursor: 'again',
  };
  const { remote } = openBehind(
    (url) => (url.includes('/apps/shop/sessions') ? Response.json(page) : undefined),
    { timeoutMs: 300 },
  );
  await assert.rejects(remote.listSessions({ appName: 'shop' }), {
    code: 'connection_lost',
    message: /did not finish the call within 300 ms/,
  });
});

it('An error that is its own cause is shown with its message', async () => {
  const error = new TypeError('fetch failed');
  error.cause = error;
  const { remote } = openRemote({ fetch: () => Promise.reject(error), retries: 0 });
  await assert.rejects(remote.getSession(KEY), {
    code: 'connection_lost',
    message: /could not be reached: fetch failed/,
  });
});

it('An error without a reason says which status the server sent', async () => {
  const { remote } = openBehind((url) =>
    url.includes('/sessions')
      ? Response.json({ code: 'already_exists' }, { status: 409 })
      : undefined,
  );
  await assert.rejects(remote.createSession(KEY), { code: 'already_exists', message: /409/ });
});

it('A fetch that returns something else than a response ends in an error of this package', async () => {
  const text = () => Promise.resolve('{}');
  for (const answer of [
    undefined,
    null,
    {},
    { text },
    { status: 200, text },
    { status: 200, text, headers: null },
    { status: 503, text },
    { status: 200, text: () => Promise.resolve(undefined), headers: new Headers() },
    { status: 503, text: () => Promise.resolve({}), headers: new Headers() },
    { status: 503, text: () => Promise.resolve(Symbol('x')), headers: {} },
  ]) {
    for (const isFirst of [true, false]) {
      const handle = fetchFrom(openRemote().handler);
      let isOdd = isFirst;
      const fetch: typeof globalThis.fetch = (input, init) =>
        isOdd ? Promise.resolve(answer as Response) : handle(input, init);
      const { remote } = openRemote({ fetch, retries: 0 });
      if (!isFirst) await remote.createSession(KEY);
      isOdd = true;
      const isTyped = (error: unknown) =>
        isSessionError(error, 'connection_lost') || isSessionError(error, 'remote');
      await assert.rejects(remote.getSession(KEY), isTyped);
      await assert.rejects(remote.createSession(KEY), isTyped);
      await assert.rejects(remote.deleteSession(KEY), isTyped);
    }
  }
});

/** Lets time pass at once. Returns the pauses between the feeds that a watcher opens. */
async function pausesOf(t: TestContext, count: number, feed: () => Response) {
  const pauses: number[] = [];
  const real = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, milliseconds = 0) => {
    // The limits of a silent feed and of the body of a refusal.
    const isLimit = milliseconds === 25_000 || milliseconds === 5000;
    if (!isLimit) pauses.push(milliseconds);
    return real(run, isLimit ? milliseconds : 0);
  });
  let opened = 0;
  const { remote, seen } = openBehind((url) => {
    if (!url.includes('/changes')) return undefined;
    opened += 1;
    return feed();
  });
  const stop = remote.watch({ appName: 'shop' }, { onNotice: () => undefined });
  while (opened < count) await new Promise(setImmediate);
  stop();
  await remote.close();
  return { pauses: pauses.slice(0, count - 1), seen };
}

function noResponse(): Response {
  throw new TypeError('fetch failed');
}

describe('A feed of changes is opened again after at most 2 seconds if the server', () => {
  for (const [what, feed] of [
    ['answers with a page', () => new Response('<html>\n</html>\n')],
    ['answers with nothing', () => new Response(null)],
    ['redirects to a login page', () => new Response(null, { status: 302 })],
    ['cannot be reached', noResponse],
  ] as const) {
    it(what, async (t) => {
      const { pauses } = await pausesOf(t, 9, feed);
      assert.ok(Math.max(...pauses) <= 2000, String(pauses));
      assert.ok(pauses.at(-1)! >= 1000, String(pauses));
    });
  }

  it('answers with a page, which a diagnostic reports', async (t) => {
    const { seen } = await pausesOf(t, 2, () => new Response('<html>'));
    assert.equal(seen[0]?.code, 'connection_lost');
  });
});

describe('A feed of changes is opened again after a longer and longer pause if the server', () => {
  for (const [what, feed] of [
    ['ends each feed after resync', () => new Response('data: {"type":"resync"}\n\n')],
    ['ends each feed within an event', () => new Response(': hi\n\ndata: {"type":')],
  ] as const) {
    it(what, async (t) => {
      const { pauses } = await pausesOf(t, 9, feed);
      assert.ok(pauses.at(-1)! > 10_000, String(pauses));
    });
  }
});

it('A feed waits as long as a timer can if the server asks for more', async (t) => {
  for (const delay of ['9999999999', 'Fri, 31 Dec 2999 23:59:59 GMT']) {
    const feed = () => new Response(null, { status: 503, headers: { 'retry-after': delay } });
    const { pauses } = await pausesOf(t, 2, feed);
    assert.equal(pauses[0], 2 ** 31 - 1);
    t.mock.restoreAll();
  }
});

it('A feed is given up if an event of it never ends', async () => {
  const line = new TextEncoder().encode(`data: ${'x'.repeat(2 ** 20)}\n`);
  let isCancelled = false;
  const body = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull: (stream) => stream.enqueue(line),
      cancel: () => {
        isCancelled = true;
      },
    });
  const { remote, seen } = openBehind((url) =>
    url.includes('/changes') ? new Response(body()) : undefined,
  );
  const stop = remote.watch({ appName: 'shop' }, { onNotice: () => undefined });
  while (seen.length === 0) await new Promise(setImmediate);
  stop();
  assert.ok(isCancelled);
  await remote.close();
});
