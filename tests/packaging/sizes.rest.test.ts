// How much is loaded, gzipped. Sizes do not depend on the machine, so they are asserted.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bundleWithEsbuild, bundleWithVite, filesBelow } from './bundles.js';
import { page } from './consumer.js';
import { install, write } from './installed.js';

const NAMES = 'openSessionService, InMemorySessionService, Template, Invocation';
const main = (entry: string): string =>
  `import { ${NAMES} } from '${entry}';\nglobalThis.all = { ${NAMES} };`;

function gzipped(...files: string[]): number {
  const sizes = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

const scripts = (folder: string): string[] =>
  filesBelow(folder).filter((file) => !file.endsWith('.html'));

const wasm = (): string => join(install().folder, 'pkg/adk_session_wasm_bg.wasm');

it('the wasm is at most 106 KB', (t) => {
  const size = gzipped(wasm());
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 106, `${size} KB`);
});

it('the wasm names source locations of panics', () => {
  assert.match(readFileSync(wasm(), 'latin1'), /\.rs\b/);
});

it('a page bundled with esbuild loads at most 157 KB', async (t) => {
  const folder = write('size-esbuild', { 'main.js': main('adk-session-wasm') });
  const size = gzipped(...scripts(await bundleWithEsbuild(folder)));
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 157, `${size} KB`);
});

it('a page built with Vite has at most 161 KB with all chunks', async (t) => {
  const files = { 'index.html': page('/main.js'), 'main.js': main('adk-session-wasm') };
  const size = gzipped(...scripts(await bundleWithVite(write('size-vite', files))));
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 161, `${size} KB`);
});

it('a page with the slim entry loads at most 161 KB, including the wasm', async (t) => {
  const folder = write('size-slim', { 'main.js': main('adk-session-wasm/slim') });
  const script = gzipped(...scripts(await bundleWithEsbuild(folder)));
  const size = script + gzipped(wasm());
  t.diagnostic(`${size.toFixed(1)} KB, of which JavaScript ${script.toFixed(1)} KB`);
  assert.ok(size <= 161, `${size} KB`);
});

/** In both pages, so it is left out: each build of it moves the difference of their gzipped sizes by some bytes. */
const WASM = '#wasm-source';

/**
 * What an entry adds to a page that has the core, and the other imports of `beside`.
 *
 * @param chunks what it loads on demand, which does not count
 */
async function sizeBeside(
  name: string,
  beside: string,
  added: string,
  chunks: readonly string[] = [],
): Promise<number> {
  const sizeOf = async (folder: string, text: string): Promise<number> => {
    const options = { external: [WASM, ...chunks, 'react', 'vue'] };
    return gzipped(
      ...scripts(await bundleWithEsbuild(write(folder, { 'main.js': text }), options)),
    );
  };
  const before = `${main('adk-session-wasm')}\n${beside}`;
  const all = await sizeOf(`size-${name}`, `${before}\n${added}`);
  return all - (await sizeOf(`size-before-${name}`, before));
}

/** Loaded on demand, by few pages: the store over `adk api_server`, and what a watch needs. */
const CHUNKS_OF_REMOTE = ['./api_server_store.js', './subscription.js'];
const REMOTE = `export { RemoteSessionService } from 'adk-session-wasm/remote';`;

it('the remote client adds at most 6.8 KB to a page', async (t) => {
  const size = await sizeBeside('remote', '', REMOTE, CHUNKS_OF_REMOTE);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 6.8, `${size} KB`);
});

const LIVE = `export { liveSession, liveSessions } from 'adk-session-wasm/live';`;

it('live stores add at most 4.7 KB to a page', async (t) => {
  const size = await sizeBeside('live', '', LIVE);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 4.7, `${size} KB`);
});

it('the hooks for React add at most 2 KB to a page with live stores', async (t) => {
  const hooks = `export { useSession, useSessions } from 'adk-session-wasm/react';`;
  const size = await sizeBeside('react', LIVE, hooks);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 2, `${size} KB`);
});

it('the composables for Vue add at most 2 KB to a page with live stores', async (t) => {
  const composables = `export { useSession, useSessions } from 'adk-session-wasm/vue';`;
  const size = await sizeBeside('vue', LIVE, composables);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 2, `${size} KB`);
});

it('the adapters for assistant-ui add at most 2 KB to a page, and 2.7 KB with the first thread', async (t) => {
  const adapters = `export { sessionHistory, sessionThreadList } from 'adk-session-wasm/assistant-ui';`;
  const size = await sizeBeside('assistant-ui', '', adapters, ['./conversion.js']);
  const chunk = (await sizeBeside('assistant-ui-all', '', adapters)) - size;
  t.diagnostic(`${size.toFixed(1)} KB and ${chunk.toFixed(1)} KB`);
  assert.ok(size <= 2, `${size} KB`);
  assert.ok(chunk <= 2.7, `${chunk} KB`);
});

it('the inspector adds at most 30 KB to a page with live stores', async (t) => {
  const size = await sizeBeside('inspector', LIVE, `import 'adk-session-wasm/inspector';`);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size > 10, `${size} KB: the import was dropped`);
  assert.ok(size <= 30, `${size} KB`);
});

it('the cache adds at most 18.8 KB to a page with the remote client', async (t) => {
  const cache = `export { CachedSessionService } from 'adk-session-wasm/cache';`;
  const size = await sizeBeside('cache', REMOTE, cache, CHUNKS_OF_REMOTE);
  t.diagnostic(`${size.toFixed(1)} KB`);
  assert.ok(size <= 18.8, `${size} KB`);
});
