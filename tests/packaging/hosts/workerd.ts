// Cloudflare's workerd.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { bundleWithEsbuild } from '../bundles.js';
import { requireHostTools } from '../host_tools.js';
import { write } from '../installed.js';

/**
 * Bundles a worker, and runs it until the work is done.
 *
 * @param main the module that exports `fetch`
 * @param durableObject a class that it exports; the binding has its name. Each object has a SQLite database
 */
export async function inWorkerd(
  name: string,
  main: string,
  work: (origin: string) => Promise<void>,
  durableObject?: string,
): Promise<void> {
  const folder = write(name, { 'main.js': main });
  // Like wrangler: the wasm stays a separate module, which workerd compiles when it loads.
  const out = await bundleWithEsbuild(folder, {
    conditions: ['workerd'],
    loader: { '.wasm': 'copy' },
    external: ['cloudflare:*'],
  });
  const wasm = readdirSync(out).filter((file) => file.endsWith('.wasm'));
  assert.equal(wasm.length, 1);
  writeFileSync(join(out, 'config.capnp'), configuration(wasm[0]!, out, durableObject));
  const { origin, end } = await startWorkerd(join(out, 'config.capnp'));
  try {
    await work(origin);
  } finally {
    end();
  }
}

function configuration(wasm: string, out: string, durableObject: string | undefined): string {
  // SQLite needs a folder: with `inMemory` an object has none.
  const disk = join(out, 'objects');
  mkdirSync(disk, { recursive: true });
  const objects =
    durableObject === undefined
      ? ''
      : `,
  bindings = [(name = "${durableObject}", durableObjectNamespace = "${durableObject}")],
  durableObjectNamespaces = [
    (className = "${durableObject}", uniqueKey = "${durableObject}", enableSql = true)
  ],
  durableObjectStorage = (localDisk = "disk")`;
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [
    (name = "main.js", esModule = embed "main.js"),
    (name = "./${wasm}", wasm = embed "${wasm}")
  ],
  compatibilityDate = "2025-01-01"${objects}
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

// The conformance suite in a worker.

/** What differs where a row holds 2 MB: the case has an event of more. */
export const LARGE_ROWS: readonly Outcome[] = [
  ['values of a megabyte are stored', 'appendEvent ended with quota_exceeded'],
];

type Outcome = readonly [name: string, message: string];

/**
 * Runs each case of the suite by a request, and returns those that failed.
 *
 * @param ask sends the query `?case=NUMBER` to a worker, which answers `{ name, message, count }`
 */
export async function outcomesOf(ask: (query: string) => Promise<Response>): Promise<Outcome[]> {
  const failed: Outcome[] = [];
  let count = 1;
  for (let number = 0; number < count; number += 1) {
    const response = await ask(`?case=${number}`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const outcome = JSON.parse(text) as { name: string; message: string; count: number };
    const { name, message } = outcome;
    const refusal = /\w+ ended with quota_exceeded/.exec(message)?.[0];
    if (message !== 'holds') failed.push([name, refusal ?? message]);
    ({ count } = outcome);
  }
  assert.ok(count > 100);
  return failed;
}
