import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Random } from '../../attack/cases/random.js';
import { APP, KEY, seed, serve, SESSION, SESSIONS } from './fixture.js';

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

function hostileRequest(random: Random): Request {
  const depth = random.below(7);
  const known = random.pick([SESSIONS, SESSION, `${SESSION}/events`, `/apps/${APP}/state`]);
  const made = `/${Array.from({ length: depth }, () => random.pick(SEGMENTS)).join('/')}`;
  const path = random.below(2) === 0 ? known : made;
  const method = random.pick(METHODS);
  const members = Array.from({ length: random.below(4) }, () => [
    random.pick(MEMBERS),
    random.pick(VALUES),
  ]);
  const text = JSON.stringify(Object.fromEntries(members));
  const body = random.pick([text, text, text.slice(1), '', 'null', `[${text}]`, '\u0000']);
  return new Request(`http://localhost${path}${random.pick(QUERIES)}`, {
    method,
    headers: { 'content-type': 'application/json', ...random.pick(HEADERS) },
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
  });
}

describe('2,000 hostile requests', () => {
  const seedNumber = Number(process.env.SEED ?? Date.now() % 1e9);

  it(`are answered, change nothing that is not allowed, and show nothing of it (SEED=${seedNumber})`, async () => {
    const random = new Random(seedNumber);
    const faults: unknown[] = [];
    // Bob's own sessions are allowed, and Ada's exist.
    const { handler, service, ask } = serve({
      authorize: (_, { userId }) => userId === 'bob',
      onError: (error) => faults.push(error),
    });
    await seed(service);
    const before = JSON.stringify(await service.getSession(KEY));
    for (let count = 0; count < 2000; count += 1) {
      const request = hostileRequest(random);
      const response = await handler(request);
      const what = `${request.method} ${request.url.slice(0, 200)}: ${response.status}`;
      assert.ok(response.status < 500 || response.status === 501, what);
      if (response.headers.get('content-type') === 'text/event-stream') {
        await response.body!.cancel();
        continue;
      }
      const text = await response.text();
      assert.ok(!text.includes('tea'), what);
      assert.ok(!/\bat .*:\d+:\d+|node_modules/.test(text), what);
    }
    assert.deepEqual(faults, []);
    assert.equal(JSON.stringify(await service.getSession(KEY)), before);
    assert.deepEqual(await service.getAppState({ appName: APP }), {});
    assert.equal((await ask(`/apps/${APP}/users/bob/sessions`, { method: 'POST' })).status, 200);
  });
});
