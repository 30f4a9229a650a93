// Cloudflare's workerd.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { bundleWithEsbuild } from '../bundles.js';
import { requireHostTools } from '../host_tools.js';
import { write } from '../installed.js';

/** Bundles a worker, and runs it until the work is done. @param main the module that exports `fetch` */
export async function inWorkerd(
  name: string,
  main: string,
  work: (origin: string) => Promise<void>,
): Promise<void> {
  const folder = write(name, { 'main.js': main });
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
    await work(origin);
  } finally {
    end();
  }
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
