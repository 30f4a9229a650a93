// Bundlers, with their defaults: a page, and a page that imports only helpers.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { html } from '../../browser/server.js';
import { bundleWithEsbuild, bundleWithVite, filesBelow, wasmCopies } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, page } from '../consumer.js';
import { bunBinary } from '../host_tools.js';
import { run, write as writeInstalled } from '../installed.js';
import { type Host, type Pages, type Project, projectWith } from './host.js';

/** Builds a folder's `index.html` or `main.js`, and returns the folder with the output. */
type Bundle = (folder: string) => Promise<string>;
type Write = (name: string, files: Record<string, string>) => string;

/** Needs no wasm. */
const HELPERS = `
import { createEvent, Invocation, isSessionError, State } from 'adk-session-wasm';

const state = new State({ topic: 'tea' });
const { id } = createEvent({ author: 'user' });
globalThis.report = Promise.resolve([isSessionError(new Error()), state.get('topic'), typeof id, typeof Invocation]);
`;
/** Not minified, as Rollup leaves it. */
const HELPERS_KB = 30;

async function checkBundler(write: Write, bundle: Bundle, pages: Pages): Promise<string> {
  const files = (main: string) => ({ 'index.html': page('./main.js'), 'main.js': main });
  const out = await bundle(write('page', files(consumer())));
  assert.deepEqual(wasmCopies(out), { files: 0, inlined: 1, rules: 0 });
  assertOutcome(await visitOutput<Outcome>(pages, out));

  const helpers = await bundle(write('helpers', files(HELPERS)));
  assert.deepEqual(wasmCopies(helpers), { files: 0, inlined: 0, rules: 0 });
  assert.deepEqual(await visitOutput(pages, helpers), [false, 'tea', 'string', 'function']);
  const size = kilobytes(helpers);
  assert.ok(size <= HELPERS_KB, `the helpers alone have ${size} KB`);
  return `one wasm; ${kilobytes(out).toFixed(0)} KB gzipped, helpers alone ${size.toFixed(1)} KB`;
}

function visitOutput<T>(pages: Pages, out: string): Promise<T> {
  const hasPage = filesBelow(out).some((file) => file.endsWith('.html'));
  return pages.serve<T>(hasPage ? { '/': out } : { '/': html(page('/out/main.js')), '/out/': out });
}

function kilobytes(folder: string): number {
  const scripts = filesBelow(folder).filter((file) => file.endsWith('.js'));
  return scripts.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0) / 1024;
}

interface PackStats {
  toJson(options: object): { warnings: { message: string }[]; errors: { message: string }[] };
}
type Pack = (
  options: object,
  done: (error: Error | null, stats?: PackStats) => void,
) => { close(done: () => void): void };

/** webpack and Rspack say this of files over 244 and 300 KiB, compressed or not. */
const SIZE_ADVICE =
  /asset size limit|entrypoint size limit|(?:webpack|Rspack) performance recommendations/;

async function pack(run: Pack, folder: string, target = 'web'): Promise<string> {
  const path = join(folder, 'out');
  const output = { path, filename: target === 'node' ? 'main.cjs' : 'main.js' };
  const options = { mode: 'production', target, context: folder, entry: './main.js', output };
  const stats = await new Promise<PackStats | undefined>((resolve, reject) => {
    const compiler = run(options, (error, stats) =>
      compiler.close(() => (error ? reject(error) : resolve(stats))),
    );
  });
  const { warnings = [], errors = [] } = stats?.toJson({ warnings: true, errors: true }) ?? {};
  const messages = [...errors, ...warnings].map(({ message }) => message);
  assert.deepEqual(
    messages.filter((message) => !SIZE_ADVICE.test(message)),
    [],
  );
  return path;
}

interface Rollup {
  readonly rollup: (options: object) => Promise<{ write(options: object): Promise<unknown> }>;
}

async function rollUp({ require }: Project, folder: string): Promise<string> {
  const { rollup } = require('rollup') as Rollup;
  const { nodeResolve } = require('@rollup/plugin-node-resolve') as {
    nodeResolve: (options: object) => unknown;
  };
  const warnings: string[] = [];
  const built = await rollup({
    input: join(folder, 'main.js'),
    plugins: [nodeResolve({ browser: true })],
    onwarn: ({ message }: { message: string }) => warnings.push(message),
  });
  const dir = join(folder, 'out');
  await built.write({ dir, format: 'es' });
  assert.deepEqual(warnings, []);
  return dir;
}

async function parcel(project: Project, folder: string): Promise<string> {
  // What docs/entries.md says to set. Parcel looks for it beside the lock file.
  const settings = { '@parcel/resolver-default': { packageExports: true } };
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...settings }));
  const bin = project.require.resolve('parcel/lib/bin.js');
  await project.run(folder, [
    bin,
    'build',
    'index.html',
    '--dist-dir',
    'out',
    // At its end Parcel would list all files of the repository for its cache, and fail if another test deletes one.
    '--no-cache',
    // Parcel makes the folder all the same, by default in the repository's root.
    '--cache-dir',
    'cache',
  ]);
  return join(folder, 'out');
}

async function bundleWithBun(folder: string): Promise<string> {
  run(bunBinary(), ['build', 'main.js', '--outdir', 'out', '--target', 'browser'], folder);
  return join(folder, 'out');
}

/** Tools that the repository has itself, or that other hosts need too. */
function ownBundler(name: string, bundle: Bundle): Host {
  const write: Write = (consumer, files) => writeInstalled(`${name}-${consumer}`, files);
  return { name, check: (pages) => checkBundler(write, bundle, pages) };
}

function bundler(
  name: string,
  bundle: (project: Project, folder: string) => Promise<string>,
): Host {
  return {
    name,
    check(pages) {
      const project = projectWith(name);
      return checkBundler(
        (consumer, files) => project.write(consumer, files),
        (folder) => bundle(project, folder),
        pages,
      );
    },
  };
}

const SERVER = `
import { DatabaseSessionService } from 'adk-session-wasm/database';

const service = new DatabaseSessionService('sqlite::memory:');
service.ping().then(() => console.log('opened'), console.log);
`;

/** The bundle of a server loads the driver of its database when it runs. */
async function checkServer(project: Project): Promise<string> {
  const folder = project.write('server', { 'main.js': SERVER });
  const out = await pack(project.require('webpack') as Pack, folder, 'node');
  assert.match(await project.run(out, ['main.cjs']), /^opened$/m);
  return 'no warning; the bundle opens a database';
}

export const BUNDLERS: readonly Host[] = [
  ownBundler('esbuild', bundleWithEsbuild),
  ownBundler('vite', bundleWithVite),
  ownBundler('bun build', bundleWithBun),
  bundler('webpack', ({ require }, folder) => pack(require('webpack') as Pack, folder)),
  { name: 'webpack for a server', check: () => checkServer(projectWith('webpack')) },
  bundler('rspack', ({ require }, folder) =>
    pack((require('@rspack/core') as { rspack: Pack }).rspack, folder),
  ),
  bundler('rollup', rollUp),
  bundler('parcel', parcel),
];
