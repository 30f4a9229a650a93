// Programs of their own, because what keeps a program running can only be seen when it ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';

/** Node's exit code of a program that ends while a top-level `await` waits. */
const UNSETTLED = 13;

/** The remote's responses come by timers that keep no program running, as those of the background. */
const PROGRAM = `
import { InMemorySessionService } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { sessionHandler } from 'adk-session-wasm/server';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const handler = sessionHandler(new InMemorySessionService(), { authorize: () => true });
const fetchLate = async (url, options) => {
  await new Promise((resolve) => setTimeout(resolve, 50).unref());
  return handler(new Request(url, options));
};
const remote = new RemoteSessionService({ url: 'http://localhost', fetch: fetchLate });
`;

/** Runs a program. @returns its exit code, and what it printed */
async function run(source: string): Promise<{ code: number; text: string }> {
  const program = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM + source], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  program.stdout.on('data', (data: Buffer) => (text += String(data)));
  const [code] = (await once(program, 'close')) as [number];
  return { code, text };
}

const openCache = (write = 'local'): string =>
  `const cache = new CachedSessionService({ remote, owner: 'ada', local: 'memory', write: '${write}' });`;

describe('A program lives while a call waits', () => {
  for (const [what, source] of [
    ['of a service', 'await remote.getOrCreateSession(key);'],
    ['for sync', `${openCache()} await cache.createSession(key); await cache.sync();`],
    ['for a write through', `${openCache('through')} await cache.createSession(key);`],
  ] as const) {
    it(what, async () => {
      assert.deepEqual(await run(`${source} console.log('done');`), { code: 0, text: 'done\n' });
    });
  }
});

describe('A program ends while only the background has work', () => {
  it('although a watch waits for notices', async () => {
    const service = 'const service = new InMemorySessionService();';
    const watch = 'for await (const notice of service.watch(key)) console.log(notice);';
    assert.deepEqual(await run(service + watch), { code: UNSETTLED, text: '' });
  });

  it('although a cache has something to send', async () => {
    const source = `${openCache()} await cache.createSession(key); console.log('stored');`;
    assert.deepEqual(await run(source), { code: 0, text: 'stored\n' });
  });
});
