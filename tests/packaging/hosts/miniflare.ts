// Cloudflare's miniflare: workers with a D1 database, which two of them share.

import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { bundleWithEsbuild } from '../bundles.js';
import { write } from '../installed.js';

/** The part of a worker's fetcher that is used. */
export interface Isolate {
  fetch(url: string, init?: { method?: string; body?: string }): Promise<Response>;
}

interface MiniflarePackage {
  readonly Miniflare: new (options: object) => {
    readonly ready: Promise<URL>;
    getWorker(name: string): Promise<Isolate>;
    dispose(): Promise<void>;
  };
}

const ISOLATES = ['first', 'second'];

/**
 * Bundles a worker, and runs it in two isolates until the work is done. They have one D1 database, `env.DB`.
 *
 * @param files the sources; `main.js` exports `fetch`
 * @param work gets the isolates, and the address of the first
 */
export async function inMiniflare(
  name: string,
  files: Readonly<Record<string, string>>,
  work: (isolates: readonly Isolate[], origin: string) => Promise<void>,
): Promise<void> {
  const folder = write(name, files);
  // Like wrangler: the wasm stays a separate module, which workerd compiles when it loads.
  const out = await bundleWithEsbuild(folder, {
    conditions: ['workerd'],
    loader: { '.wasm': 'copy', '.txt': 'text' },
  });
  const modules = readdirSync(out)
    .filter((file) => /\.(?:js|wasm)$/.test(file))
    .sort((one) => (one === 'main.js' ? -1 : 1))
    .map((file) => ({
      type: file.endsWith('.wasm') ? 'CompiledWasm' : 'ESModule',
      path: join(out, file),
    }));
  const require = createRequire(join(installPackages('miniflare'), 'package.json'));
  const { Miniflare } = require('miniflare') as MiniflarePackage;
  const worker = {
    modules,
    modulesRoot: out,
    compatibilityDate: '2026-01-01',
    d1Databases: { DB: 'sessions' },
  };
  const host = new Miniflare({
    host: '127.0.0.1',
    workers: ISOLATES.map((isolate) => ({ ...worker, name: isolate })),
  });
  try {
    const { origin } = await host.ready;
    await work(await Promise.all(ISOLATES.map((isolate) => host.getWorker(isolate))), origin);
  } finally {
    await host.dispose();
  }
}
