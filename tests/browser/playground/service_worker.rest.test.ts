// The service worker of the playground, with caches that fail.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';

const SOURCE = readFileSync(join(root, 'examples/playground/service_worker.js'), 'utf8');

/** Runs the worker, and returns how it answers a request. */
function startWorker(cache: object, fetch: () => Promise<Response>) {
  const listeners = new Map<string, (event: object) => void>();
  const globals = {
    FILES: [],
    addEventListener: (type: string, listener: (event: object) => void) =>
      void listeners.set(type, listener),
    caches: { open: () => Promise.resolve(cache) },
    clients: {},
    fetch,
    location: { origin: 'https://tea.example' },
  };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the worker's text names its globals
  const start = new Function(...Object.keys(globals), SOURCE) as (...values: unknown[]) => void;
  start(...Object.values(globals));
  return async (url: string): Promise<Response> => {
    const responses: Promise<Response>[] = [];
    listeners.get('fetch')!({
      request: new Request(url),
      respondWith: (response: Promise<Response>) => void responses.push(response),
    });
    return responses[0]!;
  };
}

it('The service worker answers with what the network has if there is no room to keep it', async () => {
  const cache = {
    put: () => Promise.reject(new DOMException('Full.', 'QuotaExceededError')),
    match: () => Promise.resolve(new Response('the last version')),
  };
  let isOnline = true;
  const respond = startWorker(cache, () =>
    isOnline ? Promise.resolve(new Response('new')) : Promise.reject(new TypeError('offline')),
  );
  assert.equal(await (await respond('https://tea.example/main.js')).text(), 'new');
  isOnline = false;
  assert.equal(await (await respond('https://tea.example/main.js')).text(), 'the last version');
});
