// The first calls of a page, in the three browsers: each page is a new one.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm';
import { type Browser, BROWSERS, openBrowser } from '../browser.js';
import { pageScript } from '../page_script.js';
import { html, serve, type Server } from '../server.js';
import type { Tab } from '../tab.js';

const key = { appName: 'app', userId: 'user', sessionId: 'session' };

export function page() {
  /** The calls of the two functions that compile wasm, in order. */
  const compiled: ('Module' | 'compile')[] = [];

  const { compile, Module } = WebAssembly;
  WebAssembly.compile = (...given) => {
    compiled.push('compile');
    return compile(...given);
  };
  // Not a class of our own: a module that `compile` has made would be none of its instances.
  WebAssembly.Module = new Proxy(Module, {
    construct(target, given: [BufferSource]) {
      compiled.push('Module');
      return new target(...given);
    },
  });

  return {
    inDatabase: () =>
      withDatabase(async (service) => {
        await service.createSession(key);
        return { isStored: (await service.getSession(key)) !== undefined, compiled };
      }),

    async inMemory() {
      const service = new InMemorySessionService();
      service.createSessionSync(key);
      return { isStored: service.getSessionSync(key) !== undefined, compiled };
    },

    bothWays: () =>
      withDatabase(async (service) => {
        const memory = new InMemorySessionService();
        const creating = service.createSession(key);
        memory.createSessionSync(key);
        await creating;
        return {
          inDatabase: (await service.getSession(key)) !== undefined,
          inMemory: memory.getSessionSync(key) !== undefined,
          compiled,
        };
      }),
  };
}

async function withDatabase<T>(use: (service: IndexedDbSessionService) => Promise<T>): Promise<T> {
  const name = `loading-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name });
  try {
    return await use(service);
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}

async function servePage(): Promise<Server> {
  const script = await pageScript(import.meta.url, { format: 'iife' });
  const text =
    '<!doctype html><meta charset="utf-8"><title>A cold page</title><script src="/page.js"></script>';
  return serve({ '/': html(text), '/page.js': { body: script } });
}

describe('The first calls of a page', () => {
  let server: Server;
  before(async () => (server = await servePage()));
  after(() => server.close());

  for (const browserName of BROWSERS) {
    describe(`in ${browserName}`, () => {
      let browser: Browser;
      before(async () => (browser = await openBrowser(browserName)));
      after(() => browser.close());

      /** Opens a new page. */
      async function visit<T>(call: (tab: Tab<ReturnType<typeof page>>) => Promise<T>): Promise<T> {
        const tab = await browser.openTab(`${server.origin}/`);
        return call(tab).finally(() => tab.leave());
      }

      it('let the browser compile the wasm in the background if they can wait', async () => {
        const { isStored, compiled } = await visit((tab) => tab.call('inDatabase'));
        assert.equal(isStored, true);
        assert.deepEqual(compiled, ['compile']);
      });

      it('return immediately in memory', async () => {
        const { isStored, compiled } = await visit((tab) => tab.call('inMemory'));
        assert.equal(isStored, true);
        assert.deepEqual(compiled, ['Module']);
      });

      it('share one instance if only some of them wait for it', async () => {
        const { compiled, ...stored } = await visit((tab) => tab.call('bothWays'));
        assert.deepEqual(stored, { inDatabase: true, inMemory: true });
        assert.deepEqual(compiled.sort(), ['Module', 'compile']);
      });
    });
  }
});
