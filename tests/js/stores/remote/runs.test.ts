// Runs over a server that speaks the protocol of `adk api_server`, with refused, cut and garbled responses.
// The bodies are those that the real server sends; tests/interop/api_server/remote_runs.ts has the real one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { inspect } from 'node:util';

import { httpServer } from '../../../http_server.js';
import { isSessionError, type Session, type SessionErrorCode } from '../../../../js/index.js';
import { RemoteSessionService, type RunRequest } from '../../../../js/service/remote/index.js';
import { KEY, openRemote } from './fixture.js';

const TOKEN = 'a-secret-token';
const newMessage = { role: 'user', parts: [{ text: 'hi' }] };

const eventOf = (id: string, timestamp: number, more = {}) => ({
  content: { parts: [{ text: id }], role: id === 'asked' ? 'user' : 'model' },
  invocationId: 'i1',
  author: id === 'asked' ? 'user' : 'guide',
  actions: { stateDelta: { last: id }, artifactDelta: {} },
  id,
  timestamp,
  ...more,
});
const asked = eventOf('asked', 1001);
const one = eventOf('one', 1002.5);
const two = eventOf('two', 1003);
const piece = eventOf('piece', 1002.2, { partial: true });

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const FAILURE = {
  error: `RuntimeError: kaboom ${TOKEN}`,
  error_details: { error_type: 'RuntimeError', error_message: 'kaboom', timestamp: 1004.5 },
};
const STALE = { error: 'StaleSessionError: …', error_details: { error_type: 'StaleSessionError' } };

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const streamed =
  (...pieces: readonly string[]): Respond =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) response.write(piece);
    response.end();
  };
const answered =
  (status: number, body: string): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
/** Sends the pieces, and then breaks the connection. */
const cut =
  (...pieces: readonly string[]): Respond =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    response.write(pieces.join(''), () => response.destroy());
  };

describe('A run of a remote service', () => {
  /** What the session has. Each run stores as the real server does: before it sends. */
  let stored: object[];
  let respond: Respond;
  let respondToRead: Respond | undefined;
  let respondToVersion: Respond;
  const sent: { readonly url: string; readonly body: string }[] = [];
  const server = httpServer((request, response) => void answer(request, response));
  let remote: RemoteSessionService;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url!;
    const body = await text(request);
    if (url === '/version') return respondToVersion(response, request);
    sent.push({ url, body });
    if (url === '/run_sse') return respond(response, request);
    const last = stored.at(-1) as typeof one | undefined;
    const lastUpdateTime = last?.timestamp ?? 1000;
    const state = last === undefined ? {} : { last: last.id };
    const read = {
      id: 's1',
      appName: 'shop',
      userId: 'ada',
      state,
      events: stored,
      lastUpdateTime,
    };
    return (respondToRead ?? answered(200, JSON.stringify(read)))(response, request);
  }

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    stored = [];
    sent.length = 0;
    respondToRead = undefined;
    respondToVersion = answered(200, '{"language":"python"}');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    remote = new RemoteSessionService({ url, getAccessToken: () => TOKEN, retries: 1 });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = async () => (await remote.getSession(KEY))!;
  const idsOf = (session: Session) => session.events.map(({ id }) => id);
  const runs = () => sent.filter(({ url }) => url === '/run_sse');

  async function all(request: RunRequest): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of remote.run(request)) ids.push(id);
    return ids;
  }

  const failsWith = (code: SessionErrorCode, message: RegExp) => (error: unknown) => {
    assert.ok(isSessionError(error, code), inspect(error));
    assert.match(error.message, message);
    assert.doesNotMatch(inspect(error), new RegExp(TOKEN));
    return true;
  };

  it('sends the request, and takes times in milliseconds', async () => {
    const session = await open();
    stored.push(asked, one, two);
    respond = streamed(line(piece), line(one), line(two));
    const options = {
      streaming: true,
      stateDelta: { a: 1, 'temp:b': 2 },
      customMetadata: { c: 3 },
    };
    assert.deepEqual(await all({ session, newMessage, ...options }), ['piece', 'one', 'two']);
    assert.deepEqual(
      runs().map(({ body }) => JSON.parse(body) as unknown),
      [{ ...KEY, newMessage, streaming: true, stateDelta: { a: 1 }, customMetadata: { c: 3 } }],
    );
    assert.deepEqual(idsOf(session), ['asked', 'one', 'two']);
    assert.deepEqual(
      session.events.map(({ timestamp }) => timestamp),
      [1001000, 1002500, 1003000],
    );
    assert.deepEqual([session.state, session.lastUpdateTime], [{ last: 'two' }, 1003000]);
  });

  it('sends nothing before the first step', async () => {
    respond = streamed();
    const run = remote.run({ ...KEY, newMessage });
    await remote.ping();
    assert.deepEqual(sent, []);
    await run.next();
    assert.equal(sent.length, 1);
  });

  it('gives the handle events that others stored, without a change of its objects', async () => {
    stored.push(eventOf('before', 900));
    const session = await open();
    const [before] = session.events;
    Object.assign(session.state, { 'temp:mine': 1 });
    stored.push(asked, one);
    respond = (response) => {
      stored.push(eventOf('other', 1002.7), two);
      streamed(line(one), line(two))(response, response.req);
    };
    await all({ session, newMessage });
    assert.deepEqual(idsOf(session), ['before', 'asked', 'one', 'other', 'two']);
    assert.equal(session.events[0], before);
    assert.deepEqual(session.state, { last: 'two', 'temp:mine': 1 });
  });

  /** Each run fails after `one`, or before it. */
  const failures: Readonly<
    Record<string, { respond: Respond; ids?: string[]; code: SessionErrorCode; message: RegExp }>
  > = {
    'the agent fails': {
      respond: streamed(line(one), line(FAILURE)),
      ids: ['asked', 'one'],
      code: 'remote',
      message: /RuntimeError: kaboom \*\*\*/,
    },
    'the agent fails at once': {
      respond: streamed(line(FAILURE)),
      ids: ['asked', 'one'],
      code: 'remote',
      message: /kaboom/,
    },
    'another run changed the session': {
      respond: streamed(line(one), line(STALE)),
      ids: ['asked', 'one'],
      code: 'stale_session',
      message: /Stale/,
    },
    'the stream is cut': {
      respond: cut(line(one)),
      ids: ['asked', 'one'],
      code: 'connection_lost',
      message: /read the session/,
    },
    'the stream is cut before the first event': {
      respond: cut(),
      code: 'connection_lost',
      message: /read the session/,
    },
    'the stream ends within an event': {
      respond: streamed(line(one), line(two).slice(0, -2)),
      ids: ['asked', 'one'],
      code: 'connection_lost',
      message: /within an event/,
    },
    'an event is not JSON': {
      respond: streamed(line(one), 'data: {"id":\n\n'),
      ids: ['asked', 'one'],
      code: 'connection_lost',
      message: /something else/,
    },
    'an event lacks its delta': {
      respond: streamed(line({ ...one, actions: {} })),
      code: 'connection_lost',
      message: /something else/,
    },
    'an event lacks its id': {
      respond: streamed(line({ ...one, id: undefined })),
      code: 'connection_lost',
      message: /something else/,
    },
    'the session does not exist': {
      respond: answered(404, '{"detail":"Session not found: s1"}'),
      code: 'not_found',
      message: /not found/,
    },
    'the request is refused': {
      respond: answered(403, `{"detail":"not with ${TOKEN}"}`),
      code: 'remote',
      message: /403/,
    },
    'the token is refused': {
      respond: answered(401, '{"detail":"no"}'),
      code: 'remote',
      message: /401/,
    },
    'the server is overloaded': {
      respond: answered(503, '{"detail":"later"}'),
      code: 'remote',
      message: /503/,
    },
    'the server breaks the connection': {
      respond: (response) => response.destroy(),
      code: 'connection_lost',
      message: /read the session/,
    },
    'the server redirects to another one': {
      respond: (response) => response.writeHead(307, { location: 'http://other.example' }).end(),
      code: 'remote',
      message: /307/,
    },
  };
  for (const [title, { respond: faulty, ids = [], code, message }] of Object.entries(failures)) {
    it(`is sent once and has a code if ${title}`, async () => {
      const session = await open();
      const same = [session.events, session.state];
      stored.push(asked, one);
      respond = faulty;
      await assert.rejects(all({ session, newMessage }), failsWith(code, message));
      assert.equal(runs().length, 1);
      assert.deepEqual(idsOf(session), ids);

      respond = streamed(line(two));
      stored.push(two);
      await all({ session, newMessage });
      assert.deepEqual({ ...session }, { ...(await open()) });
      assert.deepEqual([session.events, session.state], same);
    });
  }

  it('that the server does not begin ends at its timeout', async (t) => {
    await remote.ping();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const arrived = new Promise<void>((resolve) => (respond = () => resolve()));
    const step = remote.run({ ...KEY, newMessage }).next();
    await arrived;
    t.mock.timers.tick(60_000);
    await assert.rejects(step, failsWith('connection_lost', /60000 ms/));
    assert.equal(runs().length, 1);
  });

  it('goes on when its events take longer than the timeout', async (t) => {
    await remote.ping();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let finish = (): void => undefined;
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(line(one));
      finish = () => void response.end(line(two));
    };
    const run = remote.run({ ...KEY, newMessage });
    await run.next();
    const next = run.next();
    t.mock.timers.tick(600_000);
    finish();
    assert.equal((await next).value?.id, 'two');
  });

  it('ends on the server when its consumer stops, its signal fires or the service closes', async () => {
    const endings: readonly [string, (run: AsyncGenerator, stop: AbortController) => unknown][] = [
      ['', (run) => run.return(undefined)],
      ['aborted', (_, stop) => stop.abort()],
      ['closed', () => remote.close({ timeoutMs: 0 })],
    ];
    for (const [code, end] of endings) {
      const stop = new AbortController();
      const ended = new Promise((resolve) => {
        respond = (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(line(one));
          response.once('close', resolve);
        };
      });
      const run = remote.run({ ...KEY, newMessage, signal: stop.signal });
      await run.next();
      const outcome = run.next().then(
        ({ done }) => (done === true ? '' : 'an event'),
        (error: { code?: string }) => error.code,
      );
      void end(run, stop);
      assert.equal(await outcome, code);
      await ended;
      assert.deepEqual(await run.next(), { done: true, value: undefined });
    }
  });

  it('ends when its consumer stops or its signal fires while the server is asked what it is', async () => {
    const arrived = new Promise<void>((resolve) => (respondToVersion = () => resolve()));
    const stop = new AbortController();
    const run = remote.run({ ...KEY, newMessage });
    const step = run.next();
    const aborted = remote.run({ ...KEY, newMessage, signal: stop.signal }).next();
    await arrived;
    const done = { done: true, value: undefined };
    assert.deepEqual(await run.return(), done);
    assert.deepEqual(await step, done);
    stop.abort();
    await assert.rejects(aborted, failsWith('aborted', /./));
    assert.deepEqual(sent, []);
  });

  it('sends the request as it was at the first step', async () => {
    respond = streamed();
    const [part] = newMessage.parts;
    const request = { ...KEY, newMessage: { role: 'user', parts: [{ ...part! }] } };
    const step = remote.run(request).next();
    request.newMessage.parts[0]!.text = 'later';
    await step;
    assert.deepEqual(JSON.parse(runs()[0]!.body), { ...KEY, newMessage });
  });

  it('reports that the handle could not be read, and a failure of the run before that', async () => {
    const session = await open();
    respondToRead = answered(403, '{"detail":"no"}');
    respond = streamed(line(one));
    await assert.rejects(all({ session, newMessage }), failsWith('remote', /403/));
    respond = streamed(line(FAILURE));
    await assert.rejects(all({ session, newMessage }), failsWith('remote', /kaboom/));
    assert.deepEqual(session.events, []);
  });

  it('is not sent if the request is invalid', async () => {
    const session = await open();
    const invalid: readonly [unknown, SessionErrorCode][] = [
      [undefined, 'invalid_argument'],
      [KEY, 'invalid_argument'],
      [{ ...KEY, sessionId: undefined, newMessage }, 'invalid_argument'],
      [{ session: Object.freeze({ ...session }), newMessage }, 'invalid_argument'],
      [{ ...KEY, newMessage: { parts: [{ n: 1n }] } }, 'unserializable'],
      [{ ...KEY, newMessage, stateDelta: 7 }, 'invalid_argument'],
      [{ ...KEY, newMessage, signal: AbortSignal.abort() }, 'aborted'],
    ];
    for (const [request, code] of invalid) {
      const run = remote.run(request as RunRequest);
      await assert.rejects(run.next(), { code }, inspect(request));
    }
    const removal = remote.run({ ...KEY, newMessage, stateDelta: { a: undefined } });
    await assert.rejects(removal.next(), { code: 'unsupported' });
    await remote.close();
    await assert.rejects(remote.run({ ...KEY, newMessage }).next(), { code: 'closed' });
    assert.deepEqual(runs(), []);
  });
});

it('A run over the handler is unsupported', async () => {
  const { remote } = openRemote();
  const run = remote.run({ ...KEY, newMessage });
  await assert.rejects(run.next(), (error) => {
    assert.ok(isSessionError(error, 'unsupported'));
    assert.match(error.message, /appendEvent with the member run/);
    return true;
  });
});
