// Properties that the tests' server shares with the real one, beyond those that Google's own clients check.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import {
  ENGINE,
  type VertexServer,
  type VertexServerOptions,
  startVertexServer,
} from '../../vertex_server/server.js';

interface Answer {
  readonly code: number;
  readonly body: Record<string, unknown>;
}

interface EventList {
  readonly sessionEvents?: readonly { readonly invocationId: string }[];
  readonly nextPageToken?: string;
}

const EVENT = { author: 'user', invocationId: 'i', timestamp: '2025-01-01T00:00:01Z' };

describe("The server of Agent Engine's sessions", () => {
  let server: VertexServer;
  beforeEach(async () => {
    server = await startVertexServer({ pageSize: 2 });
  });
  afterEach(() => server.end());
  const restart = async (options: VertexServerOptions) => {
    await server.end();
    server = await startVertexServer(options);
  };

  const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
    const url = `${server.url}/v1beta1/reasoningEngines/${ENGINE}/sessions${path}`;
    const headers = { 'x-goog-api-key': 'a-key', 'content-type': 'application/json' };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url, { method, headers, ...given });
    return { code: response.status, body: (await response.json()) as Answer['body'] };
  };
  const create = (id: string, more: object = {}) =>
    ask('POST', `?sessionId=${id}`, { userId: 'ada', ...more });
  const append = (more: object = {}) => ask('POST', '/s1:appendEvent', { ...EVENT, ...more });
  const messageOf = ({ body }: Answer) => (body.error as { message: string }).message;

  it('refuses unknown fields at any depth', async () => {
    await create('s1');
    const wrong = [
      [{ foo: 1 }, 'foo', 'event'],
      [{ actions: { endOfAgent: true } }, 'endOfAgent', 'event.actions'],
      [{ eventMetadata: { usageMetadata: {} } }, 'usageMetadata', 'event.eventMetadata'],
      [
        { content: { parts: [{}, { part_metadata: {} }] } },
        'part_metadata',
        'event.content.parts[1]',
      ],
    ] as const;
    for (const [more, name, path] of wrong) {
      const answer = await append(more);
      assert.equal(answer.code, 400);
      assert.equal(
        messageOf(answer),
        `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`,
      );
    }
    assert.deepEqual(server.events('s1'), []);
    assert.equal((await ask('GET', '?foo=1')).code, 400);
  });

  it("accepts both names of a field, and keeps the caller's own names", async () => {
    await create('s1');
    const args = { a_b: 1, c: null };
    await append({
      event_metadata: { custom_metadata: { my_key: 1 }, turnComplete: true },
      content: { parts: [{ function_call: { name: 'f', args } }, { thought_signature: '-_8=' }] },
      raw_event: { some_thing: { B: 1, a: 2 } },
    });
    const [event] = server.events('s1');
    assert.deepEqual(event?.eventMetadata, { customMetadata: { my_key: 1 }, turnComplete: true });
    assert.deepEqual(event.content, {
      parts: [{ functionCall: { name: 'f', args } }, { thoughtSignature: '+/8=' }],
    });
    assert.equal(JSON.stringify(event.rawEvent), '{"some_thing":{"a":2,"B":1}}');
  });

  it('keeps times exact to the nanosecond, and prints them in UTC', async () => {
    await create('s1');
    await append({ timestamp: '2025-01-01T02:00:01.123456789+02:00' });
    await append({ timestamp: '2025-01-01T00:00:01.120000Z' });
    const times = server.events('s1').map(({ timestamp }) => timestamp);
    assert.deepEqual(times, ['2025-01-01T00:00:01.120Z', '2025-01-01T00:00:01.123456789Z']);
    assert.equal((await append({ timestamp: 'now' })).code, 400);
    assert.equal((await append({ timestamp: undefined })).code, 400);
  });

  it('lists events by time in either order, in pages that a new event does not shift', async () => {
    await create('s1');
    for (const second of [3, 1, 5, 4, 2]) {
      await append({ timestamp: `2025-01-01T00:00:0${second}Z`, invocationId: `${second}` });
    }
    const pages = async (query: string, token = ''): Promise<string[][]> => {
      const { body } = await ask('GET', `/s1/events?${query}&pageToken=${token}`);
      await append({ timestamp: '2025-01-01T00:00:00Z', invocationId: 'new' });
      const { sessionEvents = [], nextPageToken } = body as EventList;
      const page = sessionEvents.map(({ invocationId }) => invocationId);
      return nextPageToken === undefined ? [page] : [page, ...(await pages(query, nextPageToken))];
    };
    const since = encodeURIComponent('timestamp>="2025-01-01T00:00:01Z"');
    assert.deepEqual(await pages(`filter=${since}`), [['1', '2'], ['3', '4'], ['5']]);
    assert.deepEqual(await pages(`filter=${since}&orderBy=timestamp%20desc`), [
      ...[['5', '4'], ['3', '2'], ['1']],
    ]);
    assert.deepEqual(await pages(`filter=${since}&pageSize=1`), [
      ['1'],
      ['2'],
      ['3'],
      ['4'],
      ['5'],
    ]);
    const { body } = await ask('GET', '/s1/events');
    const other = await ask(
      'GET',
      `/s1/events?filter=${since}&pageToken=${String(body.nextPageToken)}`,
    );
    assert.equal(other.code, 400);
  });

  it('has one session per id of letters, digits and hyphens', async () => {
    assert.equal((await create('s1')).code, 200);
    const taken = await create('s1', { userId: 'eve' });
    assert.equal(taken.code, 400);
    assert.match(messageOf(taken), /already exists/);
    for (const id of ['S1', 's_1', '-s', 's-', 's'.repeat(64)]) {
      assert.equal((await create(id)).code, 400, id);
      assert.equal((await ask('GET', `/${id}`)).code, 400, id);
    }
    assert.equal((await ask('GET', '/s2')).code, 404);
    const { body } = await ask('POST', '', { userId: 'ada' });
    assert.match(String((body.response as { name: string }).name), /\/sessions\/\d{18,19}$/);
  });

  it('has no session before its operation is done, but its id is taken', async () => {
    await restart({ operations: 1 });
    const { body } = await create('s1');
    assert.equal(body.done, undefined);
    assert.equal((await ask('GET', '/s1')).code, 404);
    assert.equal((await create('s1')).code, 400);
    const operation = `/s1/operations/${String(body.name).split('/').at(-1)}`;
    assert.equal((await ask('GET', operation)).body.done, undefined);
    assert.equal((await ask('GET', operation)).body.done, true);
    assert.equal((await ask('GET', '/s1')).code, 200);
  });

  it("shows users' and apps' keys in all their sessions", async () => {
    await create('s1', { sessionState: { own: 1, 'user:a': 1 } });
    await append({ actions: { stateDelta: { 'app:b': 2, own: null } } });
    assert.deepEqual(server.session('s1').sessionState, { own: null, 'user:a': 1, 'app:b': 2 });
    await ask('DELETE', '/s1');
    await create('s2');
    await create('s3', { userId: 'eve' });
    assert.deepEqual(server.session('s2').sessionState, { 'user:a': 1, 'app:b': 2 });
    assert.deepEqual(server.session('s3').sessionState, { 'app:b': 2 });
  });

  it('fails once as configured', async () => {
    await create('s1');
    server.refuse('sessions.appendEvent', 503);
    server.fail('sessions.appendEvent', { kind: 'lose' });
    server.fail('sessions.appendEvent', { kind: 'drop' });
    server.fail('sessions.appendEvent', { kind: 'deny', code: 504, message: 'Late.' });
    assert.equal((await append()).code, 503);
    assert.equal(server.events('s1').length, 0);
    await assert.rejects(append());
    assert.equal(server.events('s1').length, 1);
    await assert.rejects(append());
    assert.equal(server.events('s1').length, 1);
    assert.equal((await append()).code, 504);
    assert.equal(server.events('s1').length, 2);
    assert.equal((await append()).code, 200);
    assert.ok(server.allFaultsUsed);
    assert.deepEqual(
      server.requests.slice(1).map(({ code }) => code),
      [503, undefined, undefined, 504, 200],
    );
  });

  it('refuses requests without credentials', async () => {
    await restart({ credentials: ['a-token'] });
    assert.equal((await ask('GET', '')).code, 401);
    const url = `${server.url}/v1beta1/projects/p/locations/l/reasoningEngines/${ENGINE}/sessions`;
    assert.equal((await fetch(url)).status, 401);
    const headers = { authorization: 'Bearer a-token' };
    assert.equal((await fetch(url, { headers })).status, 200);
  });
});
