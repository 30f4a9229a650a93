// Pages without a bundler, Vite's development server, and workers of pages.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'vite';
import { html } from '../../browser/server.js';
import { bundleWithEsbuild, viteConfig } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, page, program } from '../consumer.js';
import { install, write } from '../installed.js';
import type { Host, Pages } from './host.js';

const SLIM_FILE = '/package/js/dist/slim.js';
const WASM_FILE = '/package/pkg/adk_session_wasm_bg.wasm';

async function withoutBundler(pages: Pages, from: string | undefined, head: string) {
  const body = `import { loadWasm } from '${SLIM_FILE}';\n${consumer(from, `void loadWasm('${WASM_FILE}');`)}`;
  const outcome = await pages.serve<Outcome>({
    '/': html(page('/main.js', head)),
    '/main.js': { body },
    '/package/': install().folder,
  });
  assertOutcome(outcome);
  return undefined;
}

async function viteServer(pages: Pages): Promise<undefined> {
  const folder = write('vite-dev', { 'index.html': page('/main.js'), 'main.js': consumer() });
  const warnings: string[] = [];
  const server = await createServer({
    ...viteConfig(folder, warnings),
    server: { host: '127.0.0.1', port: 0, hmr: false, ws: false },
  });
  try {
    await server.listen();
    assertOutcome(await pages.visit<Outcome>(server.resolvedUrls?.local[0] ?? ''));
  } finally {
    await server.close();
  }
  assert.deepEqual(warnings, []);
  return undefined;
}

/** Answers each message with the outcome, in a worker of any kind. */
const WORKER = `${program()}
const answer = ({ ports: [port] }) => run().then((value) => port.postMessage(value));
addEventListener('message', (event) => {
  const answered = answer(event);
  event.waitUntil?.(answered);
});
addEventListener('connect', ({ ports: [port] }) => { port.onmessage = answer; });
`;

/** The target of messages for the worker, as a page gets it. */
const TARGETS = {
  dedicated: `new Worker('/worker.js')`,
  shared: `new SharedWorker('/worker.js').port`,
  service: `await navigator.serviceWorker.register('/worker.js')
    .then(() => navigator.serviceWorker.ready).then(({ active }) => active)`,
};

async function worker(pages: Pages, kind: keyof typeof TARGETS): Promise<undefined> {
  const folder = write(`worker-${kind}`, { 'main.js': WORKER });
  const out = await bundleWithEsbuild(folder, { format: 'iife' });
  const main = `
    const target = ${TARGETS[kind]};
    globalThis.report = new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data);
      target.postMessage('run', [port2]);
    });`;
  const outcome = await pages.serve<Outcome>({
    '/': html(page('/main.js')),
    '/main.js': { body: main },
    '/worker.js': { body: readFileSync(join(out, 'main.js')) },
  });
  assertOutcome(outcome);
  return undefined;
}

const importMap = JSON.stringify({ imports: { 'adk-session-wasm': SLIM_FILE } });

export const PAGES: readonly Host[] = [
  { name: 'Vite, development server', check: viteServer },
  { name: 'Page with one URL', check: (pages) => withoutBundler(pages, SLIM_FILE, '') },
  {
    name: 'Page with an import map',
    check: (pages) =>
      withoutBundler(pages, undefined, `<script type="importmap">${importMap}</script>`),
  },
  { name: 'Dedicated worker', check: (pages) => worker(pages, 'dedicated') },
  { name: 'Shared worker', check: (pages) => worker(pages, 'shared') },
  { name: 'Service worker', check: (pages) => worker(pages, 'service') },
];
