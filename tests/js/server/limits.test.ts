import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, SessionError } from '../../../js/index.js';
import { SESSION_ERROR_CODES } from '../../../js/values/errors/errors.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../js/stores/http/protocol.js';
import {
  type SessionAccess,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../js/server/index.js';
import { answerOf, KEY, requestTo, serve, SESSION, SESSIONS } from './fixture.js';

const authorize = () => true;

/** A service whose reads do as told. */
class Odd extends InMemorySessionService {
  readonly #read: (signal: AbortSignal | undefined) => Promise<never>;

  constructor(read: (signal: AbortSignal | undefined) => Promise<never>) {
    super();
    this.#read = read;
  }

  override getSession({ signal }: { signal?: AbortSignal | undefined }): Promise<never> {
    return this.#read(signal);
  }
}

/** A body that comes in parts, and stays open. */
function open(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part === undefined) return new Promise(() => undefined);
      controller.enqueue(part);
      return undefined;
    },
  });
}

function post(body: BodyInit): Request {
  return new Request(`http://localhost${SESSIONS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit);
}

describe('Limits of requests', () => {
  it('a body over the limit is refused with 413, with a declared length or without', async () => {
    const { handler, ask } = serve({ maxBodyBytes: 100 });
    const tooLong = { sessionId: 'x'.repeat(100) };
    assert.equal((await ask(SESSIONS, { body: tooLong })).status, 413);
    const part = new Uint8Array(60).fill(32);
    assert.equal((await handler(post(open([part, part])))).status, 413);
  });

  it('a body over the limit is refused with what to do about it', async () => {
    const { ask } = serve({ maxBodyBytes: 100 });
    const { body } = await ask(SESSIONS, { body: { sessionId: 'x'.repeat(100) } });
    const detail =
      'The body has more than 100 bytes: send fewer events at once, or raise maxBodyBytes at the server.';
    assert.deepEqual(body, { detail });
  });

  it('a body that is cut off is refused with 400, and is no fault of the server', async () => {
    const faults: unknown[] = [];
    const { handler } = serve({ onError: (error) => faults.push(error) });
    for (const failure of [new Error('aborted'), new TypeError('network error'), undefined]) {
      const parts = [new TextEncoder().encode('{"sessionId":')];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts.shift();
          if (part === undefined) controller.error(failure);
          else controller.enqueue(part);
        },
      });
      const { status, body: answer } = await answerOf(await handler(post(body)));
      assert.deepEqual([status, answer], [400, { detail: 'The body was cut off.' }]);
    }
    assert.deepEqual(faults, []);
  });

  it('an authorize that never answers ends with 504 at the time limit, and onError gets it', async () => {
    const faults: unknown[] = [];
    const authorize = () => new Promise<boolean>(() => undefined);
    const { ask } = serve({ authorize, timeoutMs: 20, onError: (error) => faults.push(error) });
    for (const path of [SESSION, `/apps/shop/changes`]) {
      assert.equal((await ask(path)).status, 504);
    }
    assert.equal(faults.length, 2);
  });

  it('a body that does not arrive in time is refused with 408', async () => {
    const { handler } = serve({ timeoutMs: 50 });
    assert.equal((await handler(post(open([new Uint8Array([123])])))).status, 408);
  });

  it('a body that is no JSON object in UTF-8 is refused with 400', async () => {
    const { handler } = serve();
    for (const body of ['{', '[]', '7', 'null', '"text"', new Uint8Array([0x22, 0xff, 0x22])]) {
      const { status, body: answer } = await answerOf(await handler(post(body)));
      assert.equal(status, 400);
      assert.equal((answer as { code: string }).code, 'invalid_argument');
    }
  });

  it('a body that was read before the handler is refused with what to do about it', async () => {
    const { ask, service } = serve({ authorize: async (request) => (await request.text()) !== '' });
    const { status, body } = await ask(SESSIONS, { body: { sessionId: 's1', state: { a: 1 } } });
    assert.equal(status, 500);
    assert.match((body as { detail: string }).detail, /read the body before.*clone/);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('an unknown member of a body or parameter of a query is refused with 400', async () => {
    const { ask } = serve();
    const body = (await ask(SESSIONS, { body: { sessionID: 's1' } })).body as { detail: string };
    assert.match(body.detail, /^sessionID is unknown here\. Known are /);
    assert.equal((await ask(`${SESSIONS}?limit=3`)).status, 400);
    assert.equal((await ask(`${SESSION}?numRecentEvents=-1`)).status, 400);
    assert.equal((await ask('/apps/shop/sessions?order=up')).status, 400);
  });

  it('a parameter or the key of a label that is given twice is refused with 400', async () => {
    const { ask, service } = serve();
    await service.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
    for (const [path, key] of [
      ['/apps/shop/sessions?limit=1&limit=2', 'limit'],
      ['/apps/shop/sessions?userId=ada&userId=ada', 'userId'],
      ['/apps/shop/sessions?label=a:b&label=a:c', 'label'],
      ['/apps/shop/changes?userId=ada&userId=bob', 'userId'],
      [`${SESSION}?numRecentEvents=1&numRecentEvents=2`, 'numRecentEvents'],
      [`${SESSION}/events?eventId=a&eventId=b`, 'eventId'],
    ] as const) {
      for (const headers of [{}, { [PROTOCOL_HEADER]: PROTOCOL_VERSION }]) {
        const { status, body } = await ask(path, { headers });
        assert.equal(status, 400, path);
        const { code, key: named } = body as { code: string; key: string };
        assert.deepEqual([code, named], ['invalid_argument', key]);
      }
    }
    assert.equal((await ask('/apps/shop/sessions?label=a:b&label=c:d')).status, 200);
    assert.equal((await ask('/apps/shop/sessions?stateKeys=a&stateKeys=b')).status, 200);
  });

  it('an unknown parameter of our own client does not reach authorize', async () => {
    const asked: SessionAccess[] = [];
    const { ask } = serve({
      authorize: (_, access) => {
        asked.push(access);
        return access.userId === 'bob';
      },
    });
    const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION };
    assert.equal((await ask('/apps/shop/state?userId=bob&sessionId=s1', { headers })).status, 403);
    assert.deepEqual(asked, [
      { action: 'getAppState', appName: 'shop', userId: undefined, sessionId: undefined },
    ]);
  });

  it('a call of the service that takes too long is given up with 504', async () => {
    const service = new Odd(
      (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new SessionError('aborted', 'aborted')));
        }),
    );
    const handler = sessionHandler(service, { authorize, timeoutMs: 50 });
    assert.equal((await handler(requestTo(SESSION))).status, 504);
  });

  it('each code of an error has a status, and a fault of the server tells nothing of it', async () => {
    for (const code of SESSION_ERROR_CODES) {
      const heard: unknown[] = [];
      const error = new SessionError(code, 'see /etc/secret', { cause: new Error('/etc/cause') });
      const service = new Odd(() => Promise.reject(error));
      const onError: SessionHandlerOptions['onError'] = (thrown) => heard.push(thrown);
      const handler = sessionHandler(service, { authorize, onError });
      const { status, body, headers } = await answerOf(await handler(requestTo(SESSION)));
      const text = JSON.stringify(body);
      assert.equal((body as { code: string }).code, code);
      assert.ok(!text.includes('cause') && !text.includes('stack'), text);
      const isFault = status >= 500 && code !== 'unsupported';
      assert.equal(text.includes('secret'), !isFault, code);
      // Of an agent's failure, what the agent threw.
      const told = code === 'run_failed' ? error.cause : error;
      assert.deepEqual(heard, isFault ? [told] : []);
      assert.equal(headers.get('retry-after') !== null, status === 503);
    }
  });

  it('anything else that is thrown is 500 without its message, even if onError throws', async () => {
    const service = new Odd(() => Promise.reject(new TypeError('see /etc/secret')));
    const onError = () => {
      throw new Error('onError fails');
    };
    const handler = sessionHandler(service, { authorize, onError });
    const { status, body } = await answerOf(await handler(requestTo(SESSION)));
    assert.deepEqual([status, body], [500, { detail: 'An internal error occurred.' }]);
  });

  it('an onError that rejects does not end the process', async (t) => {
    const rejections: unknown[] = [];
    const listener = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', listener);
    t.after(() => process.off('unhandledRejection', listener));
    const onError = (): unknown => Promise.reject(new Error('the log is down'));
    const { ask } = serve({ authorize: () => Promise.reject(new Error('down')), onError });
    assert.equal((await ask(SESSION)).status, 500);
    await new Promise(setImmediate);
    assert.deepEqual(rejections, []);
  });

  it('a path that does not exist is 404, a method that does not exist 405', async () => {
    const { ask } = serve();
    for (const path of ['/', '/apps', '/apps//users/u/sessions', `${SESSION}/x`, `${SESSION}/`]) {
      assert.equal((await ask(path)).status, 404, path);
    }
    const refused = await ask(SESSIONS, { method: 'PATCH', body: {} });
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get('allow'), 'POST, GET');
    assert.equal((await ask('/apps/%ff/users/u/sessions')).status, 400);
  });

  it('wrong options are refused with their name', () => {
    const service = new InMemorySessionService();
    for (const [key, value] of [
      ['authorize', undefined],
      ['basePath', 'api'],
      ['basePath', '/api/'],
      ['basePath', '/my api'],
      ['basePath', '/über'],
      ['basePath', '/api/../v2'],
      ['allowedOrigins', ['*']],
      ['allowedOrigins', 'https://shop.example'],
      ['allowedOrigins', null],
      ['basePath', ['/api']],
      ['allowedOrigins', ['https://shop.example/']],
      ['allowedOrigins', ['tauri://localhost/chat']],
      ['allowedOrigins', ['null']],
      ['maxBodyBytes', 0],
      ['maxArtifactBytes', -1],
      ['apps', 'shop'],
      ['apps', ['']],
      ['timeoutMs', Infinity],
      ['maxFeeds', '9'],
      ['onError', 'log'],
    ] as const) {
      const options = { authorize, [key]: value } as never;
      assert.throws(() => sessionHandler(service, options), { code: 'invalid_argument', key });
    }
  });
});
