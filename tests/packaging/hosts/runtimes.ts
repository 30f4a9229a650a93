// Hosts that are neither a browser nor Node: Cloudflare's workerd, Deno, Bun, and Node as React Native resolves.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertOutcome, consumer, type Outcome, program } from '../consumer.js';
import { runInBun, runInDeno } from '../host_tools.js';
import { install, run, write } from '../installed.js';
import type { Host } from './host.js';
import { inWorkerd } from './workerd.js';

async function workerd(): Promise<string> {
  // Within a request: workerd has no random numbers, so no fresh ids, while it loads a worker. The cache needs the rules,
  // which the one module has too.
  const main = `${program()}
    import { CachedSessionService } from 'adk-session-wasm/cache';
    import { RemoteSessionService } from 'adk-session-wasm/remote';

    async function write() {
      const remote = new RemoteSessionService({ url: 'http://127.0.0.1:1' });
      const cache = new CachedSessionService({ remote, owner: 'ada', local: 'memory', readTimeoutMs: 10 });
      await cache.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' });
    }
    const fetch = async () => {
      await write();
      return Response.json(await run());
    };
    export default { fetch };`;
  await inWorkerd('workerd', main, async (origin) => {
    const response = await fetch(origin);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assertOutcome(JSON.parse(text) as Outcome);
  });
  return 'one wasm';
}

/** A consumer that prints what came of it. */
function printing(): string {
  return `${consumer()}\nconsole.log(JSON.stringify(await globalThis.report));`;
}

function deno(): undefined {
  const folder = write('deno', { 'main.mjs': printing() });
  // Deno requires node_modules to match the manifest, and may not download packages.
  const manifest = { name: 'consumer', type: 'module', dependencies: { 'adk-session-wasm': '*' } };
  writeFileSync(join(install().project, 'package.json'), JSON.stringify(manifest));
  assertOutcome(JSON.parse(runInDeno(folder, 'main.mjs', ['read', 'env'])) as Outcome);
  return undefined;
}

function bun(): undefined {
  const folder = write('bun', { 'main.mjs': printing() });
  assertOutcome(JSON.parse(runInBun(folder, 'main.mjs')) as Outcome);
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
  { name: 'Bun', check: async () => bun() },
  { name: 'React Native', check: async () => reactNative() },
];
