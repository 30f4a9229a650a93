// What the errors of a client say to do next, as a new user meets them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InMemorySessionService } from '../../../../../js/index.js';
import {
  RemoteSessionService,
  type RemoteSessionOptions,
} from '../../../../../js/service/remote/index.js';
import { type Permission, sessionHandler } from '../../../../../js/server/index.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** The error of a client's first call to a handler. */
async function firstError(
  permission: Permission,
  url: string,
  options?: Partial<RemoteSessionOptions>,
): Promise<unknown> {
  const handler = sessionHandler(new InMemorySessionService(), {
    basePath: '/api',
    authorize: () => permission,
  });
  const service = new RemoteSessionService({
    url,
    fetch: (target, init) => handler(new Request(target, init)),
    retries: 0,
    ...options,
  });
  const created = service.createSession(KEY);
  return created.then(
    () => undefined,
    (error: unknown) => error,
  );
}

it('A refused token names the option that returns it', async () => {
  const error = await firstError('unauthenticated', 'https://shop.example/api');
  assert.match(
    String(error),
    /status 401: .*\. Log in again, or check what getAccessToken returns\./,
  );
});

it('A page that loses adk api_server is told that a failure of the server looks the same', async () => {
  const service = new RemoteSessionService({
    url: 'http://localhost:8000',
    fetch: (target) =>
      new Request(target).url.endsWith('/version')
        ? Promise.resolve(Response.json({ version: '2.5.0', language: 'python' }))
        : Promise.reject(new TypeError('Failed to fetch')),
    retries: 0,
  });
  const list = () => service.listSessions({ appName: 'shop', userId: 'ada' });
  await assert.rejects(list(), ({ message }: Error) => !message.includes('CORS'));
  Object.defineProperty(globalThis, 'document', { value: {}, configurable: true });
  try {
    await assert.rejects(list(), /a failure of adk api_server has no CORS headers/);
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
});

it('A refused request names the function of the server that decides', async () => {
  const error = await firstError(false, 'https://shop.example/api');
  assert.match(String(error), /status 403: .*\. The authorize of the server decides about it/);
});

it('A url without the basePath names it', async () => {
  const error = await firstError(true, 'https://shop.example/other');
  assert.match(
    String(error),
    /status 404: .*\. Check the url: it ends with the basePath of the handler\./,
  );
});

it('A server that cannot be reached is to be looked for at its address', async () => {
  const refuse = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
  const error = await firstError(true, 'https://shop.example/api', { fetch: refuse });
  assert.match(
    String(error),
    /could not be reached: fetch failed\. Check its address, then try again/,
  );
});

it('A path is refused outside of a page, with an example of a whole URL', () => {
  assert.throws(() => new RemoteSessionService({ url: '/api' }), {
    code: 'invalid_argument',
    key: 'url',
    message: /^url must be a whole http or https URL, such as https:\/\/chat\.example\/api, /,
  });
});
