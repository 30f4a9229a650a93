import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';
import { httpServer } from '../../http_server.js';
import { runs } from '../../properties.js';
import { nodeListener } from '../../../js/server/index.js';
import { APP, eventJson, KEY, seed, serve, SESSION, SESSIONS } from './fixture.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];
const SEGMENTS = [
  ...['apps', APP, 'users', 'ada', 'bob', 'sessions', 's1', 'state', 'events', 'changes'],
  ...['', '.', '..', '%2e%2e', '%2F', '%00', '%ff', '%', '__proto__', 'constructor', "' or 1=1--"],
  ...['x'.repeat(3000), '%F0%9F%8D%B5', 's1:appendEvent', 'openapi.json'],
];
const VALUES: readonly unknown[] = [
  ...[null, 0, -1, -1e300, '', 'text', [], {}, true, [[]], [{}], { a: { b: [] } }],
  ...[{ 'app:x': 1 }, { 'user:x': 1 }, { __proto__: 1 }, [{ id: 7 }], [{ id: 'e', author: 'a' }]],
];
const MEMBERS = ['sessionId', 'state', 'stateDelta', 'events', 'userId', '__proto__', 'limit'];
const HEADERS: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { 'content-type': 'text/plain' },
  { 'content-encoding': 'gzip' },
  { 'if-none-match': '*' },
  { 'x-http-method-override': 'DELETE' },
  { host: 'evil.example' },
  { authorization: 'Bearer x' },
  {},
];
const QUERIES = [
  '',
  '?',
  '?limit=1',
  '?limit=x',
  '?userId=bob',
  '?a=1',
  '?%',
  '?numRecentEvents=1e9',
];

/** The methods of some paths of Ada and of the app, with the parameters that their queries may have. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  [SESSIONS]: { GET: [], POST: [] },
  [SESSION]: {
    GET: ['numRecentEvents', 'afterTimestamp'],
    POST: [],
    PUT: [],
    PATCH: [],
    DELETE: [],
  },
  [`${SESSION}/events`]: { GET: ['before', 'after', 'limit', 'withCount'], POST: [] },
  [`/apps/${APP}/state`]: { GET: [], PATCH: [], DELETE: [] },
};

/** The status of a request to one of the known paths by somebody who may do nothing there. */
function expectedStatus(request: Request): number | undefined {
  const { pathname, searchParams } = new URL(request.url);
  const methods = KNOWN[pathname];
  if (methods === undefined) return undefined;
  if (request.headers.has('origin')) return 403;
  if (request.method === 'OPTIONS') return 204;
  const parameters = methods[request.method === 'HEAD' ? 'GET' : request.method];
  if (parameters === undefined) return 405;
  return [...searchParams.keys()].every((name) => parameters.includes(name)) ? 403 : 400;
}

const hostileRequest = fc
  .record({
    method: fc.constantFrom(...METHODS),
    path: fc.oneof(
      fc.constantFrom(...Object.keys(KNOWN)),
      fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
    ),
    query: fc.constantFrom(...QUERIES),
    headers: fc.constantFrom(...HEADERS),
    members: fc.array(fc.tuple(fc.constantFrom(...MEMBERS), fc.constantFrom(...VALUES)), { maxLength: 3 }),
    bodyOf: fc.constantFrom((text: string) => text, (text: string) => text.slice(1), () => '', () => 'null', (text: string) => `[${text}]`, () => '\u0000'),
  }); // prettier-ignore
type HostileRequest = typeof hostileRequest extends fc.Arbitrary<infer T> ? T : never;

function requestOf({ method, path, query, headers, members, bodyOf }: HostileRequest): Request {
  const body = bodyOf(JSON.stringify(Object.fromEntries(members)));
  return new Request(`http://localhost${path}${query}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
  });
}

describe('2,000 hostile requests', () => {
  it('are answered, change nothing that is not allowed, and show nothing of it', async () => {
    const faults: unknown[] = [];
    // Bob's own sessions are allowed, and Ada's exist.
    const { handler, service, ask } = serve({
      authorize: (_, { userId }) => userId === 'bob',
      onError: (error) => faults.push(error),
    });
    await seed(service);
    const before = JSON.stringify(await service.getSession(KEY));
    const isAnswered = fc.asyncProperty(hostileRequest, async (given) => {
      const request = requestOf(given);
      const expected = expectedStatus(request);
      const response = await handler(request);
      const what = `${request.method} ${request.url.slice(0, 200)}: ${response.status}`;
      if (expected === undefined) assert.ok(response.status < 500 || response.status === 501, what);
      else assert.equal(response.status, expected, what);
      if (response.headers.get('content-type') === 'text/event-stream') {
        await response.body!.cancel();
        return;
      }
      const text = await response.text();
      assert.ok(!text.includes('tea'), what);
      assert.ok(!/\bat .*:\d+:\d+|node_modules/.test(text), what);
    });
    await fc.assert(isAnswered, runs(2000));
    assert.deepEqual(faults, []);
    assert.equal(JSON.stringify(await service.getSession(KEY)), before);
    assert.deepEqual(await service.getAppState({ appName: APP }), {});
    assert.equal((await ask(`/apps/${APP}/users/bob/sessions`, { method: 'POST' })).status, 200);
  });
});

/** A body that never ends. */
function endless(): ReadableStream<Uint8Array> {
  let isBegun = false;
  return new ReadableStream({
    pull(controller) {
      if (isBegun) return new Promise(() => undefined);
      isBegun = true;
      controller.enqueue(bytes('{"sessionId":'));
      return undefined;
    },
  });
}

function inParts(count: number, part: Uint8Array): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream({
    pull(controller) {
      if (left > 0) controller.enqueue(part);
      else controller.close();
      left -= 1;
    },
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const LIMIT = 100_000;

describe('Hostile bodies', () => {
  const { handler, service } = serve({
    maxBodyBytes: LIMIT,
    maxEvents: 10,
    timeoutMs: 1000,
    authorize: (_, { userId }) => userId?.startsWith('bob') === true,
  });
  let written = 0;

  for (const [title, body, status, headers] of [
    ['a body that stays open', endless, 408],
    [
      'a body of parts that are too long together',
      () => inParts(101, bytes(' '.repeat(1000))),
      413,
    ],
    ['a body of many small parts', () => inParts(LIMIT + 1, bytes(' ')), 413],
    ['a body with a false length', () => '{}', 413, { 'content-length': '1e9' }],
    ['a body as a form', () => 'sessionId=x', 415, { 'content-type': 'text/plain' }],
    ['a body without a type', () => '{}', 415, { 'content-type': '' }],
    ['a body with a cut character', () => bytes('{"sessionId":"é"}').slice(0, 15), 400],
    ['a body in UTF-16', () => new Uint8Array(Buffer.from('{"sessionId":"x"}', 'utf16le')), 400],
    ['a packed body', () => new Uint8Array(gzipSync('{}')), 400, { 'content-encoding': 'gzip' }],
    ['an object in deep lists', () => `{"state":{"a":${nested(40_000)}}}`, 400],
    ['deep lists', () => nested(49_000), 400],
    ['members of all objects', () => '{"__proto__":{"sessionId":"x"}}', 400],
    ['a list with a length', () => '{"events":{"length":1}}', 400],
    ['an id with a line break', () => '{"sessionId":"a\\r\\nx-evil: 1"}', 200],
    ['an id with a null', () => '{"sessionId":"a\\u0000"}', 200],
    ['an id that is too long', () => `{"sessionId":"${'x'.repeat(513)}"}`, 400],
    ['app: state', () => '{"state":{"app:x":1}}', 403],
    [
      'app: state within an event',
      () => JSON.stringify({ events: [eventJson('e', { 'app:x': 1 })] }),
      403,
    ],
    ['too many events', () => `{"events":[${Array<string>(11).fill('{}').join()}]}`, 400],
  ] as const) {
    it(`${title}: status ${status}, and nothing else is written`, async () => {
      const userId = `bob ${title}`;
      const path = `/apps/${APP}/users/${encodeURIComponent(userId)}/sessions`;
      const given = { 'content-type': 'application/json', ...headers };
      const options = { method: 'POST', headers: given, body: body(), duplex: 'half' };
      const response = await handler(new Request(`http://localhost${path}`, options));
      const text = await response.text();
      assert.equal(response.status, status, text);
      assert.ok(!response.headers.has('x-evil'));
      const { totalItems } = await service.listSessions({ appName: APP });
      const own = await service.listSessions({ appName: APP, userId });
      assert.equal(own.totalItems, status === 200 ? 1 : 0);
      assert.deepEqual(await service.getAppState({ appName: APP }), {});
      written += status === 200 ? 1 : 0;
      assert.equal(totalItems, written);
    });
  }
});

describe('A body with 200,000 levels', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  for (const member of ['labels', 'state', 'events', 'title', 'unheardOf']) {
    it(`in ${member} gets status 400`, async () => {
      const { handler, service } = serve();
      for (const protocol of [{}, { 'adk-session-protocol': '1.0' }]) {
        const headers = { 'content-type': 'application/json', ...protocol };
        const body = `{"${member}":${deep}}`;
        const request = new Request(`http://localhost${SESSIONS}`, {
          method: 'POST',
          headers,
          body,
        });
        const response = await handler(request);
        assert.equal(response.status, 400);
        assert.match(await response.text(), /260 levels/);
      }
      assert.equal((await service.listSessions({ appName: APP })).totalItems, 0);
    });
  }
});

describe('A server with hostile connections', () => {
  it('answers or closes each, mixes up no requests, and is still up', async () => {
    const { handler, service } = serve({ authorize: (_, { userId }) => userId === 'bob' });
    await seed(service);
    const listener = nodeListener(handler);
    const server = httpServer((request, response) => void listener(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const bobs = `/apps/${APP}/users/bob/sessions`;
    const json = 'Host: localhost\r\nContent-Type: application/json\r\n';
    const smuggled = `DELETE ${SESSION} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    for (const text of [
      `GET ${bobs}%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET ${bobs}\r\nX-Evil: 1 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `POST ${bobs}/a%0d%0aX-Evil:%201 HTTP/1.1\r\n${json}Content-Length: 2\r\n\r\n{}`,
      `OPTIONS ${bobs} HTTP/1.1\r\n${json}Access-Control-Request-Headers: a\r\n X-Evil: 1\r\n\r\n`,
      `GET ${bobs} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\0X-Evil: 1\r\n\r\n`,
      `POST ${bobs} HTTP/1.1\r\n${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `POST ${bobs} HTTP/1.1\r\n${json}Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}${smuggled}`,
      `POST ${bobs} HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n{}${smuggled}`,
      `POST ${bobs} HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`,
      `GET ${bobs} HTTP/1.1\r\n${'A: b\r\n'.repeat(5000)}\r\n`,
      `GET ${bobs} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${'x'.repeat(100_000)}\r\n\r\n`,
      `GET ${bobs}${'/x'.repeat(50_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      'GET\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      smuggled,
    ]) {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => (answer += String(data))).on('error', () => undefined);
      socket.end(text);
      await once(socket, 'close');
      assert.ok(!/^x-evil/im.test(answer), answer);
      assert.ok(!answer.includes('tea'), answer);
      // At most what Bob may do: the second request in one is refused, or not taken for a request.
      const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
      assert.ok(
        statuses.slice(1).every((status) => status === '400' || status === '403'),
        answer,
      );
    }
    assert.ok(await service.getSession(KEY));
    const up = await fetch(`http://127.0.0.1:${port}${bobs}`);
    assert.equal(up.status, 200);
    server.closeAllConnections();
    server.close();
  });
});
