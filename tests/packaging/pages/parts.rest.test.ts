// What a page loads, and when: the wasm comes with the first call, and no other file later.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser/browser.js';
import { serve } from '../../browser/server.js';
import { bundleWithEsbuild, bundleWithVite, wasmCopies } from '../bundles.js';
import { page } from '../consumer.js';
import { write } from '../installed.js';

let browser: Browser;
before(async () => {
  browser = await openBrowser('chromium');
});
after(() => browser.close());

/** A page that appends to a session in IndexedDB and reads it; then it runs `use`. Reports the files that `use` loaded. */
const program = (use: string): string => `
import { openSessionService } from 'adk-session-wasm';

const loaded = () => performance.getEntriesByType('resource').map(({ name }) => name);

async function run() {
  const service = await openSessionService({ storage: 'indexeddb', name: 'parts' });
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const session = await service.getOrCreateSession(key);
  await service.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'hi' }] } } });
  await service.getSession(key);
  const before = loaded();
  const isNew = (name) => !before.includes(name);
  const result = await (${use});
  return { files: loaded().filter(isNew).length, result };
}

globalThis.report = run();
`;

const POLICY = `<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'">`;

async function visit(name: string, use: string): Promise<{ files: number; result: unknown }> {
  const files = { 'index.html': page('/main.js', POLICY), 'main.js': program(use) };
  const server = await serve({ '/': await bundleWithVite(write(`parts-${name}`, files)) });
  try {
    return await browser.value(`${server.origin}/`);
  } finally {
    await server.close();
  }
}

it('A page that reads, lists, pages through events and shows views loads no further file, also with a policy', async () => {
  const use = `(async () => {
    const { sessions } = await service.listSessions(key);
    const { events } = await service.listEvents(key);
    const read = await service.getSession({ ...key, config: { view: 'model' } });
    await service.deleteSession(key);
    return [sessions.length, events.length, read.events.length];
  })()`;
  assert.deepEqual(await visit('none', use), { files: 0, result: [1, 1, 1] });
});

it('A page with a cache loads the rules of the wasm at its first call, in one file and without the rest', async () => {
  const main = `
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

// Vite may put its own runtime into a file.
const loaded = () => performance.getEntriesByType('resource').filter(({ name }) => /(?<!runtime-[^/]*)\\.js$/.test(name)).length;

async function run() {
  const remote = new RemoteSessionService({ url: new URL('/nobody', location.href).href });
  const service = new CachedSessionService({ remote, owner: 'ada', readTimeoutMs: 100 });
  const before = loaded();
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  const session = await service.createSession({ ...key, state: { a: 1 } });
  await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { b: 2 } } } });
  const { state } = await service.getSession(key);
  return { files: loaded() - before, result: state };
}

globalThis.report = run();
`;
  const files = { 'index.html': page('/main.js', POLICY), 'main.js': main };
  const out = await bundleWithVite(write('parts-rules', files));
  assert.deepEqual(wasmCopies(out), { files: 0, inlined: 0, rules: 1 });
  const server = await serve({ '/': out });
  try {
    assert.deepEqual(await browser.value(`${server.origin}/`), {
      files: 1,
      result: { a: 1, b: 2 },
    });
  } finally {
    await server.close();
  }
});

it('A page in one file lists without loading another', async () => {
  const use = `service.listSessions(key).then(({ sessions }) => sessions.length)`;
  const out = await bundleWithEsbuild(write('parts-one-file', { 'main.js': program(use) }));
  const server = await serve({
    '/': { body: page('/out/main.js', POLICY), type: 'text/html' },
    '/out/': out,
  });
  try {
    assert.deepEqual(await browser.value(`${server.origin}/`), { files: 0, result: 1 });
  } finally {
    await server.close();
  }
});
