import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';

import { httpServer } from '../../http_server.js';
import { InMemorySessionService } from '../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../js/server/index.js';
import { eventJson, idsIn, KEY, SESSION, SESSIONS } from './fixture.js';

/** Serves a handler until the test ends. Returns its URL. */
async function serveOnce(
  t: TestContext,
  handler: Parameters<typeof nodeListener>[0],
): Promise<string> {
  const listener = nodeListener(handler);
  const server = httpServer((request, response) => void listener(request, response));
  t.after(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('nodeListener', () => {
  const service = new InMemorySessionService();
  const listener = nodeListener(sessionHandler(service, { authorize: () => true, maxFeeds: 1 }));
  let server: Server;
  let port: number;
  let origin: string;

  before(async () => {
    server = httpServer((request, response) => void listener(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
    origin = `http://127.0.0.1:${port}`;
  });
  after(() => server.close());

  async function ask(path: string, body?: unknown) {
    const response = await fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  }

  it('serves requests with large bodies and responses', async () => {
    await ask(SESSIONS, { sessionId: 's1' });
    const text = 'tea '.repeat(500_000);
    const event = { ...eventJson('e1'), content: { role: 'user', parts: [{ text }] } };
    assert.equal((await ask(`${SESSION}/events`, { events: [event] })).status, 200);
    const { body } = await ask(SESSION);
    assert.deepEqual(idsIn(body), ['e1']);
    assert.ok(JSON.stringify(body).includes(text));
  });

  it('leaves turns of the event loop to others between requests that come at once', async (t) => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    t.after(() => clearImmediate(next));
    // Each look at the clock is 10 ms later, as if a request took at least so long.
    let now = performance.now();
    t.mock.method(performance, 'now', () => (now += 10));
    const begun = new Set<number>();
    const url = await serveOnce(t, (request) => {
      begun.add(turns);
      return Promise.resolve(new Response(new URL(request.url).pathname));
    });
    const paths = Array.from({ length: 10 }, (_, n) => `/${n}`);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    // Node reads all of them in one turn.
    const head = ' HTTP/1.1\r\nhost: localhost\r\n';
    const requests = paths.map((path) => `GET ${path}${head}\r\n`);
    socket.write(`${requests.join('')}GET /last${head}connection: close\r\n\r\n`);
    let text = '';
    for await (const part of socket) text += String(part);
    assert.deepEqual(text.match(/^\/\w+/gm), [...paths, '/last']);
    assert.ok(begun.size >= 5, `${begun.size} turns`);
  });

  it('does not abort the signal of a request whose response was sent', async (t) => {
    const signals: AbortSignal[] = [];
    const listener = nodeListener(({ signal }) => {
      signals.push(signal);
      return Promise.resolve(new Response('sent'));
    });
    let server!: Server;
    const closed = new Promise<void>((resolve) => {
      server = httpServer((request, response) => {
        void listener(request, response);
        response.once('close', resolve);
      });
    });
    t.after(() => server.close().closeAllConnections());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'sent');
    await closed;
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false],
    );
  });

  it('ends a feed when its client goes', async () => {
    const changes = `${origin}/apps/shop/changes`;
    const controller = new AbortController();
    const first = await fetch(changes, { signal: controller.signal });
    await first.body!.getReader().read();
    assert.equal((await fetch(changes)).status, 503);
    controller.abort();
    let status = 503;
    for (let attempts = 0; status !== 200 && attempts < 1000; attempts += 1) {
      const next = await fetch(changes);
      await next.body!.cancel();
      ({ status } = next);
    }
    assert.equal(status, 200);
  });

  it('answers a malformed host, method or request line, and goes on', async () => {
    const lines = [
      'GET / HTTP/1.1\r\nHost: a b\r\n',
      'TRACE / HTTP/1.1\r\nHost: localhost\r\n',
      `GET http://evil.example${SESSION} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n`,
      'GET //evil.example HTTP/1.1\r\nHost: localhost\r\n',
      'GET http:// HTTP/1.1\r\nHost: localhost\r\n',
    ];
    for (const line of lines) {
      const socket = connect(port, '127.0.0.1');
      socket.end(`${line}Connection: close\r\n\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      assert.match(String(data), /^HTTP\/1\.1 40[0-5] /, line);
      socket.destroy();
    }
    assert.equal((await ask(SESSIONS)).status, 200);
  });

  it('takes the whole path, as a guard in front of it does', async () => {
    await service.getOrCreateSession(KEY);
    for (const [path, status] of [
      [SESSION, 200],
      [`//guarded.example${SESSION}`, 404],
      [`/\\guarded.example${SESSION}`, 404],
      [`http://localhost//guarded.example${SESSION}`, 404],
    ] as const) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      assert.match(String(data), new RegExp(`^HTTP/1.1 ${status} `), path);
    }
  });

  it('says so if a body parser was there first', async () => {
    const parsing = httpServer((request, response) => {
      request.resume().once('end', () => {
        void listener(Object.assign(request, { body: {} }), response);
      });
    });
    await once(parsing.listen(0, '127.0.0.1'), 'listening');
    const { port } = parsing.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${SESSIONS}`, {
      method: 'POST',
      body: '{}',
    });
    assert.equal(response.status, 500);
    assert.match(await response.text(), /before the body parsers/);
    parsing.closeAllConnections();
    parsing.close();
  });

  it('says so if somebody has read the body and left nothing of it', async (t) => {
    const reading = httpServer((request, response) => {
      request.resume().once('end', () => void listener(request, response));
    });
    t.after(() => reading.close().closeAllConnections());
    await once(reading.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(reading.address() as AddressInfo).port}${SESSIONS}`;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: '{"state":{"a":1}}' });
    assert.equal(response.status, 500);
    assert.match(await response.text(), /before the body parsers/);
    assert.equal((await fetch(url)).status, 200);
  });

  it('sends each cookie that a handler sets', async (t) => {
    const cookies = ['session=1; HttpOnly', 'theme=dark'];
    const url = await serveOnce(t, () => {
      const response = new Response('ok');
      for (const cookie of cookies) response.headers.append('set-cookie', cookie);
      return Promise.resolve(response);
    });
    assert.deepEqual((await fetch(url)).headers.getSetCookie(), cookies);
  });

  it('answers with 500 if a handler throws, and goes on', async (t) => {
    let requests = 0;
    const url = await serveOnce(t, () => {
      requests += 1;
      if (requests === 1) throw new Error('of the program');
      return requests === 2 ? Promise.reject(new Error('later')) : Promise.resolve(new Response());
    });
    const statuses: number[] = [];
    while (statuses.length < 3) statuses.push((await fetch(url)).status);
    assert.deepEqual(statuses, [500, 500, 200]);
  });

  it('ends a feed whose client goes before the response is sent', async (t) => {
    const handler = sessionHandler(service, { authorize: () => true, maxFeeds: 1 });
    const changes = '/apps/shop/changes';
    let sent: Promise<void> | undefined;
    const late = nodeListener(async (request) => {
      const response = await handler(request);
      controller.abort();
      await once(request.signal, 'abort');
      return response;
    });
    const other = httpServer((request, response) => {
      sent = late(request, response);
    });
    t.after(() => other.close().closeAllConnections());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}${changes}`;
    const controller = new AbortController();
    await assert.rejects(fetch(url, { signal: controller.signal }));
    await sent;
    const next = await handler(new Request(`http://localhost${changes}`));
    assert.equal(next.status, 200);
    await next.body!.cancel();
  });

  it('takes a page of its own origin for one over HTTP/2 too', async (t) => {
    const other = createHttp2Server((request, response) => void listener(request, response));
    t.after(() => other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const ownOrigin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const client = connectHttp2(ownOrigin);
    t.after(() => client.destroy());
    for (const [origin, status] of [
      [ownOrigin, 200],
      ['http://evil.example', 403],
    ] as const) {
      const [headers] = (await once(client.request({ ':path': SESSIONS, origin }), 'response')) as [
        Record<string, unknown>,
      ];
      assert.equal(headers[':status'], status);
    }
  });

  it('gives up a call whose client has gone', async () => {
    let given: AbortSignal | undefined;
    const waiting = nodeListener((request) => {
      given = request.signal;
      return new Promise((resolve) => {
        request.signal.addEventListener('abort', () => resolve(new Response('late')));
      });
    });
    const slow = httpServer((request, response) => void waiting(request, response));
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const { port } = slow.address() as AddressInfo;
    const request = httpRequest({ port, host: '127.0.0.1' }).on('error', () => undefined);
    request.end();
    while (given === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    request.destroy();
    if (!given.aborted) await once(given, 'abort');
    slow.close();
  });

  it('cuts a response whose body fails, and the process goes on', async (t) => {
    const failing = nodeListener(() => {
      let count = 0;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        count += 1;
        if (count > 1) controller.error(new Error('no more'));
        else controller.enqueue(new TextEncoder().encode('{'));
      };
      return Promise.resolve(new Response(new ReadableStream({ pull })));
    });
    const other = httpServer((request, response) => void failing(request, response));
    t.after(() => other.close().closeAllConnections());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    await assert.rejects(fetch(url).then((response) => response.text()));
    await assert.rejects(fetch(url).then((response) => response.text()));
  });

  it('waits for a slow client without a new listener for each wait', async (t) => {
    let response: ServerResponse | undefined;
    let chunks = 60;
    const sending = nodeListener(() => {
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        chunks -= 1;
        if (chunks < 0) controller.close();
        else controller.enqueue(new Uint8Array(2 ** 18));
      };
      return Promise.resolve(new Response(new ReadableStream({ pull })));
    });
    const other = httpServer((request, given) => {
      response = given;
      void sending(request, given);
    });
    t.after(() => other.close().closeAllConnections());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { body } = await fetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    let bytes = 0;
    let most = 0;
    for await (const chunk of body!) {
      bytes += chunk.byteLength;
      most = Math.max(most, response!.listenerCount('close') + response!.listenerCount('drain'));
      await new Promise(setImmediate);
    }
    assert.equal(bytes, 60 * 2 ** 18);
    assert.ok(most < 10, String(most));
  });

  it('leaves a response alone that somebody else has begun', async (t) => {
    const both = httpServer((request, response) => {
      response.writeHead(503).end('too late');
      void listener(request, response);
    });
    t.after(() => both.close().closeAllConnections());
    await once(both.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(both.address() as AddressInfo).port}${SESSIONS}`;
    for (let count = 0; count < 2; count += 1) {
      const response = await fetch(url).catch(() => undefined);
      if (response !== undefined) assert.equal(response.status, 503);
    }
  });
});
