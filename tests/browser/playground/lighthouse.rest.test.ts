// Lighthouse on the playground. It is large, and takes a minute.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { nodeBinary } from '../../packaging/hosts/host.js';
import { hostEnv } from '../../toolchain/environment.mjs';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { type Routes, serve } from '../server.js';
import { builtPlayground } from './build.js';

interface Outcome {
  readonly categories: Record<string, { readonly score: number | null; readonly title: string }>;
  readonly audits: Record<string, { readonly score: number | null; readonly title: string }>;
}

it('Lighthouse scores the playground with at least 95', { timeout: 300_000 }, async (t) => {
  const server = await serve(compressed(await builtPlayground()));
  try {
    const { categories, audits } = await lighthouse(`${server.origin}/`);
    const lost = Object.values(audits).filter(({ score }) => score !== null && score < 1);
    for (const { title, score } of Object.values(categories)) t.diagnostic(`${title}: ${score}`);
    const details = JSON.stringify(lost.map(({ title, score }) => [title, score]));
    const { performance, ...others } = categories;
    // How fast a page is depends on the machine; `performance` is printed above.
    assert.ok(performance?.score !== null, details);
    for (const { title, score } of Object.values(others)) {
      assert.ok((score ?? 0) >= 0.95, `${title}: ${score}, ${details}`);
    }
  } finally {
    await server.close();
  }
});

/** The files of a folder, compressed as a host serves them. */
function compressed(folder: string): Routes {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const routes = paths.map((path) => [
    `/${relative(folder, path).replaceAll(sep, '/')}`,
    { body: gzipSync(readFileSync(path)), headers: { 'content-encoding': 'gzip' } },
  ]);
  const all = Object.fromEntries(routes) as Routes;
  const page = all['/index.html'];
  return { ...all, ...(typeof page === 'object' && { '/': { ...page, type: 'text/html' } }) };
}

async function lighthouse(url: string): Promise<Outcome> {
  const folder = installPackages('lighthouse');
  const program = join(folder, 'node_modules/lighthouse/cli/index.js');
  const options = ['--output=json', '--quiet', '--chrome-flags=--headless=new --no-sandbox'];
  const env = hostEnv();
  const { stdout } = await promisify(execFile)(nodeBinary(24), [program, url, ...options], {
    env: { ...env, CHROME_PATH: env.CHROMIUM_BINARY, CI: '1' },
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as Outcome;
}
