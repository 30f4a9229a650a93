// How much is loaded, gzipped. Sizes do not depend on the machine, so they are asserted, with 5 % of room.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bundleWithEsbuild, bundleWithVite, filesBelow, sampleOf } from '../bundles.js';
import { page } from '../consumer.js';
import { root, write } from '../installed.js';

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

const wasm = (build = 'wasm'): string => join(root, `pkg/adk_session_${build}_bg.wasm`);

/** What a bundler makes: the files that the page loads before it calls anything, and all of them. */
interface Bundled {
  readonly start: readonly string[];
  readonly all: readonly string[];
}

function bundled(out: string, main: string): Bundled {
  const all = filesBelow(out).filter((file) => file.endsWith('.js'));
  return { start: loadedAtStart(join(out, main)), all };
}

async function byEsbuild(name: string, text: string): Promise<Bundled> {
  const out = await bundleWithEsbuild(write(name, { 'main.js': text }), { splitting: true });
  return bundled(out, 'main.js');
}

async function byVite(name: string, text: string): Promise<Bundled> {
  const files = { 'index.html': page('/main.js'), 'main.js': text };
  const out = await bundleWithVite(write(name, files));
  const [, script] = /<script [^>]*src="\/([^"]+)"/.exec(
    readFileSync(join(out, 'index.html'), 'utf8'),
  )!;
  return bundled(out, script!);
}

const esbuildPage = async (name: string, text: string): Promise<number> =>
  gzipped(...(await byEsbuild(name, text)).start);
const vitePage = async (name: string, text: string): Promise<number> =>
  gzipped(...(await byVite(name, text)).start);

/** A whole page: what it loads before its first call with the wasm of its services, and that with all chunks. */
function wholePage({ start, all }: Bundled): { loaded: number; inAll: number } {
  const has = (file: string, build: 'wasm' | 'rules') =>
    readFileSync(file, 'latin1').includes(sampleOf(build));
  const isAtHand = start.some((file) => has(file, 'wasm'));
  const wasm = isAtHand ? [] : all.filter((file) => has(file, 'rules'));
  const loaded = new Set([...start, ...wasm.flatMap((file) => loadedAtStart(file))]);
  return { loaded: gzipped(...loaded), inAll: gzipped(...all) };
}

/** In both pages, so it is left out: each build of it moves the difference of their gzipped sizes by some bytes. */
const WASM = ['#wasm-source', '#rules'];

/** Without the class of the service in memory, which has all parts from the start. */
const INDEXED_DB = `import { openSessionService, Template, Invocation } from 'adk-session-wasm';
globalThis.all = { openSessionService, Template, Invocation };`;

const CHAT_STORES = `import { liveSession, liveSessions } from 'adk-session-wasm/live';\n`;
const chat = (names: string, imports: string): string =>
  `${CHAT_STORES}${imports}\nglobalThis.all = { liveSession, liveSessions, ${names} };`;
const CHAT = {
  indexedDb: chat('openSessionService', `import { openSessionService } from 'adk-session-wasm';`),
  memory: `import { InMemorySessionService } from 'adk-session-wasm';
globalThis.all = { InMemorySessionService };`,
  http: chat(
    'RemoteSessionService',
    `import { RemoteSessionService } from 'adk-session-wasm/remote';`,
  ),
  cache: chat(
    'CachedSessionService, RemoteSessionService',
    `import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';`,
  ),
};

/** Loaded on demand, by few pages. */
const CHUNKS = [
  './api_server_store.js',
  './conversion.js',
  './over_storage.js',
  './remote_artifacts.js',
  './cached_artifacts.js',
  '../../core/history/histories.js',
  '../../core/history/turns.js',
  '../../service/search/index.js',
  '../../../service/search/index.js',
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
  const external = [...WASM, ...CHUNKS, 'react', 'vue'];
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
  ['the wasm', 131.3, () => gzipped(wasm())],
  ['the wasm with the rules alone', 63.6, () => gzipped(wasm('rules'))],
  ['a page bundled with esbuild', 194, () => esbuildPage('size-esbuild', main('adk-session-wasm'))],
  ['a page built with Vite', 191.5, () => vitePage('size-vite', main('adk-session-wasm'))],
  ['a page over IndexedDB, built with Vite', 190, () => vitePage('size-indexed-db', INDEXED_DB)],
  [
    'a page with the slim entry and the wasm',
    202.5,
    async () => (await esbuildPage('size-slim', main('adk-session-wasm/slim'))) + gzipped(wasm()),
  ],
  ['the remote client', 14.2, () => sizeBeside('remote', '', REMOTE)],
  [
    'the search',
    8.4,
    () => sizeBeside('search', '', `export { sessionSearch } from 'adk-session-wasm/search';`),
  ],
  ['live stores', 9.9, () => sizeBeside('live', '', LIVE)],
  ['the hooks for React', 1.23, () => sizeBeside('react', LIVE, hooksOf('react'))],
  ['the composables for Vue', 1.25, () => sizeBeside('vue', LIVE, hooksOf('vue'))],
  [
    'the adapters for assistant-ui',
    1.63,
    () =>
      sizeBeside(
        'assistant-ui',
        '',
        `export { sessionHistory, sessionThreadList } from 'adk-session-wasm/assistant-ui';`,
      ),
  ],
  [
    'the attachments for assistant-ui',
    1.04,
    () =>
      sizeBeside(
        'attachments',
        LIVE,
        `export { sessionAttachments } from 'adk-session-wasm/assistant-ui';`,
      ),
  ],
  [
    'the inspector',
    39.3,
    () => sizeBeside('inspector', LIVE, `import 'adk-session-wasm/inspector';`),
  ],
  [
    'the cache',
    45,
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

/** Chats over each storage, and the most kilobytes that they load with each bundler: before the first call, and in all. */
const PAGES: readonly [
  what: string,
  text: string,
  vite: readonly [number, number],
  esbuild: readonly [number, number],
][] = [
  ['IndexedDB', CHAT.indexedDb, [203, 247], [211, 266]],
  ['memory', CHAT.memory, [183, 199], [190, 212]],
  ['a cache', CHAT.cache, [188, 229], [200, 252]],
  ['HTTP', CHAT.http, [134, 184], [140, 201]],
];

for (const [what, text, vite, esbuild] of PAGES) {
  it(`a chat over ${what} loads at most ${vite[0]} KB before its first call with Vite, ${esbuild[0]} with esbuild`, async (t) => {
    const name = `size-chat-${what.replace(' ', '-')}`;
    const bundles = [await byVite(name, text), await byEsbuild(`${name}-esbuild`, text)];
    for (const [index, [most, mostInAll]] of [vite, esbuild].entries()) {
      const { loaded, inAll } = wholePage(bundles[index]!);
      t.diagnostic(`${loaded.toFixed(1)} KB, ${inAll.toFixed(1)} KB with all chunks`);
      assert.ok(loaded <= most, `${loaded} KB`);
      assert.ok(inAll <= mostInAll, `${inAll} KB with all chunks`);
    }
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

it('docs/entries.md has a row for each chat, with its sizes', async () => {
  const table = readFileSync(join(root, 'docs/entries.md'), 'utf8');
  for (const [what, text] of PAGES) {
    const row = new RegExp(
      `^\\| ${what}.*\\| (\\d+) KB .*\\| (\\d+) KB .*\\| (\\d+) KB `,
      'm',
    ).exec(table);
    const [, loaded, , inAll] = (row ?? []).map(Number);
    const sizes = wholePage(await byVite(`size-row-${what.replace(' ', '-')}`, text));
    for (const [stated, size] of [
      [loaded, sizes.loaded],
      [inAll, sizes.inAll],
    ] as const) {
      assert.ok(Math.abs(Number(stated) - size) < 3, `${what}: ${size} KB`);
    }
  }
});

it('the wasm names source locations of panics', () => {
  assert.match(readFileSync(wasm(), 'latin1'), /\.rs\b/);
});
