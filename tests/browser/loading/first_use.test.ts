// A page on http that is not of this machine: it is no secure context, so parts of the platform are missing there.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openBrowser } from '../browser.js';
import { PACKAGE_ROUTES, packagePage } from '../package_page.js';
import { html, serve } from '../server.js';

const IMPORTS = {
  'adk-session-wasm': '/package/js/dist/index.js',
  'adk-session-wasm/live': '/package/js/dist/ui/live/index.js',
  'adk-session-wasm/remote': '/package/js/dist/service/remote/index.js',
};

const MODULE = `
import { openSessionService } from 'adk-session-wasm';
import { liveSession } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';

async function use() {
  const service = await openSessionService({ storage: 'indexeddb', name: 'on-http' });
  const { id } = await service.createSession({ appName: 'shop', userId: 'ada' });
  const chat = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: id });
  await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'hi' }] } });
  const stored = await service.getSession({ appName: 'shop', userId: 'ada', sessionId: id });
  const remote = new RemoteSessionService({ url: 'http://127.0.0.1:9/api', retries: 0 });
  const refused = await remote.getSession(chat.key).catch(({ code, message }) => [code, message]);
  return { isSecureContext, count: stored.events.length, refused };
}
globalThis.report = use();
`;

it('A page on http keeps its sessions, and its errors say what to check', async () => {
  const server = await serve({
    '/': html(packagePage('/use.js', IMPORTS)),
    '/use.js': { body: MODULE },
    ...PACKAGE_ROUTES,
  });
  const browser = await openBrowser('chromium', {
    arguments: ['--host-resolver-rules=MAP shop.example 127.0.0.1'],
  });
  try {
    const { port } = new URL(server.origin);
    const { isSecureContext, count, refused } = await browser.value<{
      isSecureContext: boolean;
      count: number;
      refused: [code: string, message: string];
    }>(`http://shop.example:${port}/`);
    assert.equal(isSecureContext, false);
    assert.equal(count, 1);
    assert.equal(refused[0], 'connection_lost');
    assert.match(refused[1], /Check its address and the origins that it allows, then try again/);
  } finally {
    await browser.close();
    await server.close();
  }
});
