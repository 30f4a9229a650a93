// The first calls of a page.

import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm';

const key = { appName: 'app', userId: 'user', sessionId: 'session' };

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

const cases = {
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

export type PageCases = typeof cases;

const name = new URLSearchParams(location.search).get('case') as keyof PageCases;
(globalThis as { report?: Promise<unknown> }).report = cases[name]();
