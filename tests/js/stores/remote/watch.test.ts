import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Diagnostic, Notice, Notices } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../js/stores/http/protocol.js';
import { fetchFrom, handlerOn, KEY, openRemote, URL_OF_SERVER } from './fixture.js';

const nextOf = async (notices: Notices): Promise<Notice> => {
  const { value } = await notices.next();
  assert.ok(value);
  return value;
};

/** Yields feeds that the test writes, and counts the requests for them. */
function writtenFeeds() {
  const feeds: ReadableStreamDefaultController<Uint8Array>[] = [];
  const opened = openRemote();
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (!(input as string).includes('/changes')) return fetchFrom(opened.handler)(input, init);
    const body = new ReadableStream<Uint8Array>({ start: (feed) => void feeds.push(feed) });
    return Promise.resolve(new Response(body));
  };
  const write = (index: number, text: string) =>
    feeds[index]?.enqueue(new TextEncoder().encode(text));
  return { remote: openRemote({ fetch }).remote, feeds, write };
}

describe('The watchers of a remote service', () => {
  it('begin with resync, and get the changes of others and their own once', async () => {
    const { remote, service } = openRemote();
    const notices = remote.watch({ appName: 'shop', userId: 'ada' });
    assert.equal((await nextOf(notices)).type, 'resync');
    const session = await remote.createSession(KEY);
    assert.equal((await nextOf(notices)).type, 'created');
    await service.updateState({ appName: 'shop', stateDelta: { 'app:a': 1 } });
    assert.equal((await nextOf(notices)).type, 'stateChanged');
    await remote.appendEvent({ session, event: { author: 'user', invocationId: 'i' } });
    const appended = await nextOf(notices);
    assert.equal(appended.type, 'appended');
    assert.equal('revision' in appended && appended.revision, remote.revisionOf(session));
    await remote.deleteSession(KEY);
    assert.equal((await nextOf(notices)).type, 'deleted');
    const rest = notices.next();
    await remote.close();
    assert.equal((await rest).done, true);
  });

  it('share one feed for each user, and each gets the notices of its own session', async () => {
    const { service, handler } = openRemote();
    const feeds: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const { pathname } = new URL(input as string);
      if (pathname.endsWith('/changes')) feeds.push(pathname);
      return fetchFrom(handler)(input, init);
    };
    const { remote } = openRemote({ fetch });
    const user = { appName: 'shop', userId: 'ada' };
    const keys = Array.from({ length: 10 }, (_, number) => ({ ...user, sessionId: `s${number}` }));
    const ofUser = remote.watch(user);
    const ofSessions = keys.map((key) => remote.watch(key));
    for (const watch of [ofUser, ...ofSessions]) {
      assert.equal((await nextOf(watch)).type, 'resync');
    }
    for (const key of keys) await service.createSession(key);
    const idOf = (notice: Notice) => 'sessionId' in notice && notice.sessionId;
    for (const [number, key] of keys.entries()) {
      assert.equal(idOf(await nextOf(ofUser)), key.sessionId);
      assert.equal(idOf(await nextOf(ofSessions[number]!)), key.sessionId);
    }
    await service.deleteUser(user);
    for (const [number, key] of keys.entries()) {
      const deleted = await nextOf(ofSessions[number]!);
      assert.deepEqual([deleted.type, idOf(deleted)], ['deleted', key.sessionId]);
    }
    const other = remote.watch({ appName: 'shop', userId: 'bob' });
    assert.equal((await nextOf(other)).type, 'resync');
    const ofApp = remote.watch({ appName: 'shop' });
    assert.equal((await nextOf(ofApp)).type, 'resync');
    const paths = ['/users/ada', '/users/bob', ''].map((path) => `/api/apps/shop${path}/changes`);
    assert.deepEqual(feeds, paths);
    await remote.close();
  });

  it('end their feed with the last of them', async () => {
    const { service } = openRemote();
    const handler = handlerOn(service, { maxFeeds: 1 });
    const fetch = fetchFrom(handler);
    const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
    const watches = [KEY, { appName: 'shop', userId: 'ada' }].map((key) => remote.watch(key));
    for (const watch of watches) assert.equal((await nextOf(watch)).type, 'resync');
    for (const watch of watches) await watch.return();
    const other = remote.watch({ appName: 'other' });
    assert.equal((await nextOf(other)).type, 'resync');
    await remote.close();
  });

  it('end a feed that opens only after the last of them, also over a fetch that ignores signals', async () => {
    let open: ((response: Response) => void) | undefined;
    const { handler } = openRemote();
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (!(input as string).endsWith('/changes')) return fetchFrom(handler)(input, init);
      return new Promise((resolve) => (open = resolve));
    };
    const { remote } = openRemote({ fetch });
    const notices = remote.watch(KEY);
    while (open === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    await notices.return();
    await new Promise<void>((resolve) => {
      const stream = new ReadableStream({ cancel: () => resolve() });
      const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION, 'content-type': 'text/event-stream' };
      open!(new Response(stream, { headers }));
    });
    await remote.close();
  });

  it('get what a broken feed missed from the next one, and nothing twice', async () => {
    const { service, handler } = openRemote();
    const asked: (string | null)[] = [];
    let cut = (): void => undefined;
    // Passes the parts of a feed on until it is cut, which may be within an event.
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await handler(request);
      if (!request.url.includes('/changes')) return response;
      asked.push(request.headers.get('last-event-id'));
      const reader = response.body!.getReader();
      const body = new ReadableStream<Uint8Array>({
        start: (feed) => {
          cut = () => {
            void reader.cancel();
            feed.error(new Error('cut'));
          };
        },
        async pull(feed) {
          const { value } = await reader.read();
          if (value === undefined) return;
          const half = value.length / 2;
          feed.enqueue(value.subarray(0, half));
          feed.enqueue(value.subarray(half));
        },
        cancel: () => reader.cancel(),
      });
      return new Response(body);
    };
    const { remote } = openRemote({ fetch });
    const sessions = await Promise.all(
      Array.from({ length: 200 }, () => service.createSession({ appName: 'shop', userId: 'ada' })),
    );
    const notices = remote.watch({ appName: 'shop', userId: 'ada' });
    assert.equal((await nextOf(notices)).type, 'resync');
    const appends = (async () => {
      for (const session of sessions) {
        await service.appendEvent({ session, event: { author: 'user', invocationId: 'i' } });
      }
    })();
    const told: unknown[] = [];
    while (told.length < 200) {
      const notice = await nextOf(notices);
      assert.equal(notice.type, 'appended');
      told.push('sessionId' in notice && notice.sessionId);
      if (told.length === 70) cut();
      if (told.length === 150) cut();
    }
    await appends;
    assert.deepEqual(
      told,
      sessions.map(({ id }) => id),
    );
    assert.equal(asked.length, 3);
    assert.equal(asked[0], '0');
    await service.createSession(KEY);
    assert.equal((await nextOf(notices)).type, 'created');
    await remote.close();
  });

  it('get resync when a broken feed is open again', async () => {
    const { remote, feeds, write } = writtenFeeds();
    const notices = remote.watch({ appName: 'shop' });
    while (feeds.length === 0) await new Promise(setImmediate);
    write(0, ': connected\n\ndata: {"type":"updated","appName":"shop","userId":"ada","sess');
    write(0, 'ionId":"s1"}\r\n\r\n');
    assert.equal((await nextOf(notices)).type, 'updated');
    feeds[0]?.error(new Error('broken'));
    const again = nextOf(notices);
    while (feeds.length === 1) await new Promise((resolve) => setTimeout(resolve, 10));
    write(1, 'id: 1\ndata: {"type":"resync"}\n\n');
    assert.equal((await again).type, 'resync');
    await remote.close();
  });

  it('ignore notices that they do not know, and open a garbled feed again', async () => {
    const { remote, feeds, write } = writtenFeeds();
    const notices = remote.watch({ appName: 'shop' });
    while (feeds.length === 0) await new Promise(setImmediate);
    for (const data of [
      '{"type":"made up"}',
      'null',
      '{"type":"appended","appName":"shop"}',
      '7',
    ]) {
      write(0, `data: ${data}\n\n`);
    }
    write(0, 'data: {"type":\n\n');
    const next = nextOf(notices);
    while (feeds.length === 1) await new Promise((resolve) => setTimeout(resolve, 10));
    write(1, 'data: {"type":"resync"}\n\n');
    assert.equal((await next).type, 'resync');
    await remote.close();
  });

  it('get another token if one has expired, or none could be had', async () => {
    const { handler } = openRemote();
    const tokens = [
      () => 'expired',
      () => 'fresh',
      () => 'expired',
      () => Promise.reject(new TypeError('fetch failed')),
      () => 'fresh',
    ];
    const feeds: ReadableStreamDefaultController<Uint8Array>[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init);
      if (!request.url.includes('/changes')) return handler(request);
      if (request.headers.get('authorization') !== 'Bearer fresh') {
        return Promise.resolve(Response.json({ detail: 'no' }, { status: 401 }));
      }
      const body = new ReadableStream<Uint8Array>({
        start(feed) {
          feeds.push(feed);
          feed.enqueue(new TextEncoder().encode('data: {"type":"resync"}\n\n'));
        },
      });
      return Promise.resolve(new Response(body));
    };
    const { remote } = openRemote({ fetch, getAccessToken: () => tokens.shift()!() });
    const notices = remote.watch({ appName: 'shop' });
    assert.equal((await nextOf(notices)).type, 'resync');
    feeds[0]?.close();
    assert.equal((await nextOf(notices)).type, 'resync');
    assert.deepEqual(tokens, []);
    await remote.close();
  });

  it('end if the feed is refused again after another token, even if the body of the refusal never ends', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { handler } = openRemote();
    const seen: Diagnostic[] = [];
    const ended: unknown[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (!(input as string).includes('/changes')) return fetchFrom(handler)(input, init);
      init?.signal?.addEventListener('abort', () => ended.push(init.signal));
      return Promise.resolve(new Response(new ReadableStream(), { status: 401 }));
    };
    const onDiagnostic = (diagnostic: Diagnostic) => seen.push(diagnostic);
    const { remote } = openRemote({ fetch, onDiagnostic });
    const end = remote.watch({ appName: 'shop' }).next();
    for (let seconds = 0; seconds < 12; seconds += 1) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      t.mock.timers.tick(1000);
    }
    assert.equal((await end).done, true);
    assert.deepEqual(
      seen.map(({ code }) => code),
      ['remote', 'remote'],
    );
    assert.equal(ended.length, 2);
    t.mock.timers.reset();
    await remote.close();
  });

  it('end if the server does not allow the feed, and a diagnostic says why', async () => {
    const { service } = openRemote();
    const seen: Diagnostic[] = [];
    const fetch = fetchFrom(
      handlerOn(service, { authorize: (_, { action }) => action !== 'watch' }),
    );
    const onDiagnostic = (diagnostic: Diagnostic) => seen.push(diagnostic);
    const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch, onDiagnostic });
    const notices = remote.watch({ appName: 'shop' });
    assert.equal((await notices.next()).done, true);
    assert.deepEqual(
      seen.map(({ kind, code }) => [kind, code]),
      [['connection', 'remote']],
    );
    await remote.close();
  });
});
