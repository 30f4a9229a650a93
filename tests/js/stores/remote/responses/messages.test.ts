// Client and handler against frozen copies of their messages: of this version of the protocol, and of the next minor
// version, which may have members, headers and notices that this one does not know.
//
// `RECORD=1` replaces the file, for a new version of the protocol.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService, isSessionError } from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../fixture.js';

interface Message {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

const file = new URL('messages_1.0.json', import.meta.url);
const HEADERS = ['adk-session-protocol', 'adk-session-created', 'adk-session-revision'];

const clock = () => 1_700_000_000_000;
const newHandler = () => handlerOn(new InMemorySessionService({ clock }));

/** Calls that send each kind of message, and what they return. */
async function talk(fetch: typeof globalThis.fetch): Promise<unknown[]> {
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch, clock, retries: 0 });
  const event = (id: string) => {
    const delta = { stateDelta: { last: id, 'user:u': id } };
    return createEvent({
      id,
      invocationId: 'i',
      author: 'user',
      timestamp: 1000.25,
      actions: delta,
    });
  };
  await remote.ping();
  const session = await remote.createSession({ ...KEY, state: { a: 1 }, events: [event('e1')] });
  const other = await remote.getSession(KEY);
  assert.ok(other);
  await remote.appendEvent({ session, event: event('e2') });
  await remote.appendEvent({ session: other, event: event('e3') });
  await remote.updateSession(KEY, { title: 'Tea', labels: { b: '2', a: '1' } });
  await remote.updateState({ appName: 'shop', stateDelta: { 'app:m': 'x' } });
  const changes = await remote.listChanges({ ...KEY, since: 2 });
  const refused = await remote.createSession(KEY).catch((error: unknown) => {
    return isSessionError(error) ? error.toJSON() : error;
  });
  return [
    { ...session },
    { ...other },
    await remote.listSessions({ appName: 'shop', userId: 'ada' }),
    await remote.listEvents({ ...KEY, limit: 2 }),
    changes,
    await remote.listChanges({ ...KEY, since: changes.revision }),
    await remote.listChanges({ ...KEY, since: 0 }),
    await remote.getUserState(KEY),
    await remote.getSession({ ...KEY, sessionId: '..' }),
    refused,
    await remote.deleteSessions({ appName: 'shop', olderThan: clock() + 1 }),
  ];
}

/** Sends requests to a handler, and records the messages. */
async function record(): Promise<Message[]> {
  const messages: Message[] = [];
  const send = fetchFrom(newHandler());
  await talk(async (input, init) => {
    const response = await send(input, init);
    const text = init?.body as string | undefined;
    messages.push({
      method: init?.method ?? 'GET',
      url: (input as string).slice(URL_OF_SERVER.length),
      body: text === undefined ? undefined : JSON.parse(text),
      status: response.status,
      headers: headersOf(response.headers),
      answer: await response.clone().json(),
    });
    return response;
  });
  return messages;
}

const headersOf = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => HEADERS.includes(name)));

/** The same message from a side that speaks the next minor version. */
function later(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return { ...value, addedLater: { by: 'the next version' } };
}

if (process.env.RECORD !== undefined) writeFileSync(file, JSON.stringify(await record()));
const messages = JSON.parse(readFileSync(file, 'utf8')) as Message[];

describe('The protocol of the remote client', () => {
  for (const version of ['1.0', '1.1']) {
    const of = (value: unknown) => (version === '1.0' ? value : later(value));

    it(`is understood by this client if the handler speaks ${version}`, async () => {
      const rest = [...messages];
      const results = await talk((input, init) => {
        const message = rest.shift();
        assert.ok(message, 'no more requests');
        const { status, headers } = message;
        const text = init?.body as string | undefined;
        const sent = { method: init?.method, url: (input as string).slice(URL_OF_SERVER.length) };
        assert.deepEqual(sent, { method: message.method, url: message.url });
        assert.deepEqual(text && (JSON.parse(text) as unknown), message.body);
        const given = { ...headers, 'adk-session-protocol': version, 'x-added-later': '1' };
        // A state has keys of the user's own, so no version adds one.
        const isState = message.url.endsWith('/state');
        const body = JSON.stringify(isState ? message.answer : of(message.answer));
        return Promise.resolve(new Response(body, { status, headers: given }));
      });
      assert.deepEqual(rest, []);
      assert.deepEqual(results, await talk(fetchFrom(newHandler())));
    });

    it(`is understood by this handler if the client speaks ${version}`, async () => {
      const send = fetchFrom(newHandler());
      for (const { method, url, body, status, headers, answer } of messages) {
        const path = version === '1.0' ? url : `${url}${url.includes('?') ? '&' : '?'}addedLater=1`;
        const response = await send(URL_OF_SERVER + path, {
          method,
          headers: { 'adk-session-protocol': version, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(of(body)) }),
        });
        const text = await response.text();
        const got = [response.status, headersOf(response.headers), JSON.parse(text)];
        assert.deepEqual(got, [status, headers, answer], `${method} ${url}`);
      }
    });
  }

  it('is refused if the client speaks another major version', async () => {
    const response = await fetchFrom(newHandler())(`${URL_OF_SERVER}/apps/shop/state`, {
      headers: { 'adk-session-protocol': '2.0' },
    });
    assert.equal(response.status, 400);
  });
});
