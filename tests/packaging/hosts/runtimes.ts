// Hosts that are neither a browser nor Node: Cloudflare's workerd, Deno, and Node as React Native resolves.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { bundleWithEsbuild } from '../bundles.js';
import { assertOutcome, consumer, type Outcome, program } from '../consumer.js';
import { requireHostTools, runInDeno } from '../host_tools.js';
import { install, run, write } from '../installed.js';
import type { Host } from './host.js';

async function workerd(): Promise<string> {
  // Within a request: workerd has no random numbers, so no fresh ids, while it loads a worker.
  const main = `${program()}
    export default { fetch: async () => Response.json(await run()) };`;
  const folder = write('workerd', { 'main.js': main });
  // Like wrangler: the wasm stays a separate module, which workerd compiles when it loads.
  const out = await bundleWithEsbuild(folder, {
    conditions: ['workerd'],
    loader: { '.wasm': 'copy' },
  });
  const wasm = readdirSync(out).filter((file) => file.endsWith('.wasm'));
  assert.equal(wasm.length, 1);
  writeFileSync(join(out, 'config.capnp'), configuration(wasm[0]!));
  const { origin, end } = await startWorkerd(join(out, 'config.capnp'));
  try {
    const response = await fetch(origin);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assertOutcome(JSON.parse(text) as Outcome);
  } finally {
    end();
  }
  return 'one wasm';
}

function configuration(wasm: string): string {
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [
    (name = "main.js", esModule = embed "main.js"),
    (name = "./${wasm}", wasm = embed "${wasm}")
  ],
  compatibilityDate = "2025-01-01"
);`;
}

async function startWorkerd(config: string): Promise<{ origin: string; end: () => void }> {
  // It reports its port on a separate channel.
  const { default: program } = requireHostTools()('workerd') as { default: string };
  const worker: ChildProcess = spawn(program, ['serve', config, '--control-fd=3'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let log = '';
  worker.stderr?.on('data', (text: Buffer) => (log += text.toString()));
  const end = (): void => void worker.kill();
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`workerd ended: ${log}`)));
    (worker.stdio[3] as Readable).on('data', (line: Buffer) => {
      const told = JSON.parse(line.toString()) as { event: string; port?: number };
      if (told.port !== undefined) resolve(told.port);
    });
  });
  return { origin: `http://127.0.0.1:${port}`, end };
}

function deno(): undefined {
  const print = '\nconsole.log(JSON.stringify(await globalThis.report));';
  const folder = write('deno', { 'main.mjs': consumer() + print });
  // Deno requires node_modules to match the manifest, and may not download packages.
  const manifest = { name: 'consumer', type: 'module', dependencies: { 'adk-session-wasm': '*' } };
  writeFileSync(join(install().project, 'package.json'), JSON.stringify(manifest));
  assertOutcome(JSON.parse(runInDeno(folder, 'main.mjs', ['read', 'env'])) as Outcome);
  return undefined;
}

/** Resolves as Metro does, without the WebAssembly that Hermes lacks. */
function reactNative(): string {
  const main = `
    delete globalThis.WebAssembly;
    import('adk-session-wasm').catch(({ name, code, message }) => {
      console.log(JSON.stringify({ name, code, message }));
    });`;
  const folder = write('react-native', { 'main.mjs': main });
  const printed = run(process.execPath, ['--conditions=react-native', 'main.mjs'], folder);
  const { name, code, message } = JSON.parse(printed) as Record<string, string>;
  assert.deepEqual([name, code], ['SessionError', 'wasm_unavailable']);
  assert.match(message ?? '', /needs WebAssembly, which Hermes/);
  return 'no WebAssembly: the import fails with wasm_unavailable';
}

export const RUNTIMES: readonly Host[] = [
  { name: 'workerd', check: workerd },
  { name: 'Deno', check: async () => deno() },
  { name: 'React Native', check: async () => reactNative() },
];
