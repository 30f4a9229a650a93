// How much is loaded, gzipped. Sizes do not depend on the machine, so they are asserted, with 5 % of room.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bundleWithEsbuild, bundleWithVite } from '../bundles.js';
import { page } from '../consumer.js';
import { install, root, write } from '../installed.js';

const NAMES = 'openSessionService, InMemorySessionService, Template, Invocation';
const main = (entry: string): string =>
  `import { ${NAMES} } from '${entry}';\nglobalThis.all = { ${NAMES} };`;

function gzipped(...files: string[]): number {
  const sizes = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

/** The files that a page loads before it calls anything: a module, and what it imports otherwise than on demand. */
function loadedAtStart(file: string, files = new Set<string>()): string[] {
  if (!files.has(file)) {
    files.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/\b(?:from|import) ?"(\.[^"]+\.js)"/g);
    for (const [, path] of imports) loadedAtStart(join(dirname(file), path!), files);
  }
  return [...files];
}

const wasm = (): string => join(install().folder, 'pkg/adk_session_wasm_bg.wasm');

async function esbuildPage(name: string, text: string): Promise<number> {
  const out = await bundleWithEsbuild(write(name, { 'main.js': text }), { splitting: true });
  return gzipped(...loadedAtStart(join(out, 'main.js')));
}

async function vitePage(name: string, text: string): Promise<number> {
  const files = { 'index.html': page('/main.js'), 'main.js': text };
  const out = await bundleWithVite(write(name, files));
  const [, script] = /<script [^>]*src="\/([^"]+)"/.exec(
    readFileSync(join(out, 'index.html'), 'utf8'),
  )!;
  return gzipped(...loadedAtStart(join(out, script!)));
}

/** In both pages, so it is left out: each build of it moves the difference of their gzipped sizes by some bytes. */
const WASM = '#wasm-source';

/** Without the class of the service in memory, which has all parts from the start. */
const INDEXED_DB = `import { openSessionService, Template, Invocation } from 'adk-session-wasm';
globalThis.all = { openSessionService, Template, Invocation };`;

/** Loaded on demand, by few pages. */
const CHUNKS = [
  './api_server_store.js',
  './conversion.js',
  './over_storage.js',
  '../../core/history/histories.js',
  '../../../core/history/turns.js',
  '../../service/runs/api_server_runs.js',
  '../../service/runs/page_runs.js',
  '../../service/runs/remote_runs.js',
];

const REMOTE = `export { RemoteSessionService } from 'adk-session-wasm/remote';`;
const LIVE = `export { liveSession, liveSessions } from 'adk-session-wasm/live';`;
const hooksOf = (entry: string): string =>
  `export { useSession, useSessions } from 'adk-session-wasm/${entry}';`;

/** In one file, since each bound between files moves the difference too. */
async function fileSize(name: string, text: string): Promise<number> {
  const external = [WASM, ...CHUNKS, 'react', 'vue'];
  const out = await bundleWithEsbuild(write(name, { 'main.js': text }), { external });
  return gzipped(join(out, 'main.js'));
}

/** What imports add to a page that has the core, and the imports of `beside`. */
async function sizeBeside(name: string, beside: string, added: string): Promise<number> {
  const before = `${main('adk-session-wasm')}\n${beside}`;
  const all = await fileSize(`size-${name}`, `${before}\n${added}`);
  return all - (await fileSize(`size-before-${name}`, before));
}

const SIZES: readonly [
  what: string,
  kilobytes: number,
  measured: () => number | Promise<number>,
][] = [
  ['the wasm', 126.2, () => gzipped(wasm())],
  [
    'a page bundled with esbuild',
    186.5,
    () => esbuildPage('size-esbuild', main('adk-session-wasm')),
  ],
  ['a page built with Vite', 183.7, () => vitePage('size-vite', main('adk-session-wasm'))],
  ['a page over IndexedDB, built with Vite', 172.3, () => vitePage('size-indexed-db', INDEXED_DB)],
  [
    'a page with the slim entry and the wasm',
    183,
    async () => (await esbuildPage('size-slim', main('adk-session-wasm/slim'))) + gzipped(wasm()),
  ],
  ['the remote client', 10.9, () => sizeBeside('remote', '', REMOTE)],
  ['live stores', 8.4, () => sizeBeside('live', '', LIVE)],
  ['the hooks for React', 0.85, () => sizeBeside('react', LIVE, hooksOf('react'))],
  ['the composables for Vue', 0.9, () => sizeBeside('vue', LIVE, hooksOf('vue'))],
  [
    'the adapters for assistant-ui',
    1.55,
    () =>
      sizeBeside(
        'assistant-ui',
        '',
        `export { sessionHistory, sessionThreadList } from 'adk-session-wasm/assistant-ui';`,
      ),
  ],
  [
    'the inspector',
    33.4,
    () => sizeBeside('inspector', LIVE, `import 'adk-session-wasm/inspector';`),
  ],
  [
    'the cache',
    45.6,
    () =>
      sizeBeside('cache', REMOTE, `export { CachedSessionService } from 'adk-session-wasm/cache';`),
  ],
];

for (const [what, kilobytes, measured] of SIZES) {
  it(`${what}: about ${kilobytes} KB`, async (t) => {
    const size = await measured();
    t.diagnostic(`${size.toFixed(2)} KB`);
    assert.ok(size <= kilobytes * 1.05, `${size} KB`);
    assert.ok(size > kilobytes / 2, `${size} KB: the import was dropped, or the table is outdated`);
  });
}

it('the documents say what a page over IndexedDB loads, and how much of it is the wasm', async () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const stated = ['README.md', 'docs/index.md', 'docs/entries.md'].map((file) =>
    Number(/IndexedDB(?: page)? loads (\d+) KB/.exec(read(file))?.[1]),
  );
  const [, ofWasm] = /of which (\d+) KB are the wasm/.exec(read('README.md')) ?? [];
  const size = await vitePage('size-documents', INDEXED_DB);
  for (const kilobytes of stated) assert.ok(Math.abs(kilobytes - size) < 2, `${size} KB`);
  assert.ok(Math.abs(Number(ofWasm) - gzipped(wasm())) < 2, `${gzipped(wasm())} KB of wasm`);
});

it('the wasm names source locations of panics', () => {
  assert.match(readFileSync(wasm(), 'latin1'), /\.rs\b/);
});
