import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from './child.js';

/** Counts the compilations of the package's wasm; Node compiles other wasm. */
const COUNTING = `
  const { size } = (await import('node:fs')).statSync('pkg/adk_session_wasm_bg.wasm');
  const counts = { compiled: 0 };
  const note = (bytes) => (counts.compiled += bytes?.byteLength === size ? 1 : 0);
  WebAssembly.Module = class extends WebAssembly.Module {
    constructor(bytes) { super(bytes); note(bytes); }
  };
  for (const name of ['compile', 'instantiate']) {
    const original = WebAssembly[name];
    WebAssembly[name] = (...given) => { note(given[0]); return original(...given); };
  }
`;

describe('The default entry', () => {
  it('loads nothing at import or construction', async () => {
    const counts = await inChild<{ imported: number; made: number; called: number }>(`
      ${COUNTING}
      const adk = await load('index.js');
      const imported = counts.compiled;
      const service = new adk.InMemorySessionService();
      new adk.Template('{a}');
      adk.instruction('{a}');
      adk.createEvent({ actions: { stateDelta: { a: 1 } } });
      new adk.State({ a: 1 }).get('a');
      void service.storage;
      const made = counts.compiled;
      service.createSessionSync(key);
      return { imported, made, called: counts.compiled };
    `);
    assert.deepEqual(counts, { imported: 0, made: 0, called: 1 });
  });

  it('loads once for all callers', async () => {
    const compiled = await inChild<number>(`
      ${COUNTING}
      const adk = await load('index.js');
      const services = [1, 2, 3].map(() => new adk.InMemorySessionService());
      await Promise.all(services.map((service) => service.createSession(key)));
      await adk.injectSessionState('{a}', { state: { a: 1 } });
      await adk.openSessionService({ storage: 'memory' });
      return counts.compiled;
    `);
    assert.equal(compiled, 1);
  });

  it('reports a failed load, and the next call retries', async () => {
    const outcomes = await inChild<Record<string, Outcome>>(`
      const adk = await load('index.js');
      const { Module, compile } = WebAssembly;
      WebAssembly.Module = class { constructor() { throw new Error('out of memory'); } };
      WebAssembly.compile = () => Promise.reject(new Error('out of memory'));
      const service = new adk.InMemorySessionService();
      const outcomes = {
        promise: await codeOf(() => service.createSession(key)),
        sync: await codeOf(() => service.createSessionSync(key)),
        open: await codeOf(() => adk.openSessionService({ storage: 'memory' })),
        template: await codeOf(() => adk.injectSessionState('{a}', { state: { a: 1 } })),
        placeholders: await codeOf(() => new adk.Template('{a}').placeholders),
      };
      Object.assign(WebAssembly, { Module, compile });
      outcomes.again = await codeOf(() => service.createSession(key));
      outcomes.templateAgain = await codeOf(() => adk.injectSessionState('{a}', { state: { a: 1 } }));
      return outcomes;
    `);
    for (const failed of ['promise', 'sync', 'open', 'template', 'placeholders']) {
      assert.equal(outcomes[failed]?.code, 'wasm_unavailable', failed);
      assert.equal(outcomes[failed]?.isError, true);
      assert.match(outcomes[failed]?.message ?? '', /out of memory.*tries again/);
    }
    assert.deepEqual(outcomes.again, { value: 'object' });
    assert.deepEqual(outcomes.templateAgain, { value: 'string' });
  });

  it('does not advise to try again where there is no WebAssembly', async () => {
    const outcome = await inChild<Outcome>(`
      ${BOTH_WAYS}
      delete globalThis.WebAssembly;
      return codeOf(() => adapted.createSession(key));
    `);
    assert.equal(outcome.code, 'wasm_unavailable');
    assert.match(outcome.message ?? '', /use a host that has WebAssembly\.$/);
  });

  it('names the policy that forbids WebAssembly', async () => {
    const { code, message } = await inChild<Outcome>(`
      const adk = await load('index.js');
      WebAssembly.Module = class {
        constructor() {
          throw new WebAssembly.CompileError("Refused to compile or instantiate WebAssembly module because neither 'wasm-eval' nor 'unsafe-eval' is an allowed source of script");
        }
      };
      return codeOf(() => new adk.InMemorySessionService().createSession(key));
    `);
    assert.equal(code, 'wasm_unavailable');
    assert.match(message ?? '', /'wasm-unsafe-eval'.*script-src/);
  });

  it('works in a process that forbids code generation', async () => {
    const outcome = await inChild<Outcome>(
      `
      const adk = await load('index.js');
      return codeOf(() => new adk.InMemorySessionService().createSession(key));
    `,
      ['--disallow-code-generation-from-strings'],
    );
    assert.deepEqual(outcome, { value: 'object' });
  });

  it('works in a host without coders of UTF-8', async () => {
    const text = 'grüß 👋 ' + 'ж'.repeat(100);
    const state = await inChild<unknown>(`
      delete globalThis.TextDecoder;
      delete globalThis.TextEncoder;
      const adk = await load('index.js');
      const service = new adk.InMemorySessionService();
      const state = { [${JSON.stringify(text)}]: ${JSON.stringify(text)} };
      service.createSessionSync({ ...key, state });
      return service.getSessionSync(key).state;
    `);
    assert.deepEqual(state, { [text]: text });
  });

  for (const [what, thrown] of [
    ['a text', "'no bytes'"],
    ['undefined', 'undefined'],
    ['an object', '({ code: 5 })'],
  ]) {
    it(`reports a source that throws ${what}`, async () => {
      const outcomes = await inChild<Outcome[]>(`
        const loading = await load('core/wasm/all.js');
        loading.provideWasm({ moduleNow() { throw ${thrown}; } });
        const adk = await load('index.js');
        const service = new adk.InMemorySessionService();
        const now = await codeOf(() => service.createSession(key));
        loading.provideWasm({ module: () => Promise.reject(${thrown}) });
        return [now, await codeOf(() => service.createSession(key))];
      `);
      for (const { code, isError } of outcomes) {
        assert.deepEqual({ code, isError }, { code: 'wasm_unavailable', isError: true });
      }
    });
  }

  for (const [what, module] of [
    ['nothing', 'undefined'],
    ['an object', '({})'],
    ['a module of somebody else', 'new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))'], // prettier-ignore
  ]) {
    it(`reports a source that returns ${what}, and tries the next one`, async () => {
      const [wrong, right] = await inChild<[Outcome, Outcome]>(`
        const loading = await load('core/wasm/all.js');
        loading.provideWasm({ module: async () => ${module} });
        const slim = await load('slim.js');
        const service = new slim.InMemorySessionService();
        const wrong = await codeOf(() => service.createSession(key));
        const { readFileSync } = await import('node:fs');
        await slim.loadWasm(readFileSync('pkg/adk_session_wasm_bg.wasm'));
        return [wrong, await codeOf(() => service.createSession(key))];
      `);
      assert.equal(wrong.code, 'wasm_unavailable', wrong.message);
      assert.deepEqual(right, { value: 'object' });
    });
  }
});

/** A service over a storage and one in memory; the source notes which way it went. */
const BOTH_WAYS = `
  const loading = await load('core/wasm/all.js');
  const { source } = await import('./js/dist/core/wasm/loader/inline.js');
  const ways = [];
  const both = {
    moduleNow: () => (ways.push('now'), source.moduleNow()),
    module: () => (ways.push('later'), source.module()),
  };
  loading.provideWasm(both);
  const adk = await load('slim.js');
  const { MapStorage } = await load('../tests/js/service/map_storage.js');
  const { overStorage } = await load('service/over_storage.js');
  const adapted = overStorage(new MapStorage(), {});
  const memory = new adk.InMemorySessionService();
`;

describe('A source that can load now or later', () => {
  it('can load later for a service with an asynchronous storage', async () => {
    const [outcome, ways] = await inChild<[Outcome, string[]]>(`
      ${BOTH_WAYS}
      return [await codeOf(() => adapted.createSession(key)), ways];
    `);
    assert.deepEqual(outcome, { value: 'object' });
    assert.deepEqual(ways, ['later']);
  });

  it('loads later for `ping` of a service in memory', async () => {
    const [outcome, ways] = await inChild<[Outcome, string[]]>(`
      ${BOTH_WAYS}
      await memory.ping();
      return [await codeOf(() => memory.createSessionSync(key)), ways];
    `);
    assert.deepEqual(outcome, { value: 'object' });
    assert.deepEqual(ways, ['later']);
  });

  for (const [what, call] of [
    ['a synchronous call', 'memory.createSessionSync(key)'],
    ['an asynchronous call in memory, which is done when it returns', 'memory.createSession(key)'],
    ['a template', "new adk.Template('{a}').placeholders"],
  ]) {
    it(`must load at once for ${what}`, async () => {
      const ways = await inChild<string[]>(`
        ${BOTH_WAYS}
        void ${call};
        return ways;
      `);
      assert.deepEqual(ways, ['now']);
    });
  }

  it('makes one instance: later calls see what a synchronous call stored', async () => {
    const [stored, outcome, ways] = await inChild<[boolean, Outcome, string[]]>(`
      ${BOTH_WAYS}
      const creating = codeOf(() => adapted.createSession(key));
      memory.createSessionSync(key);
      const outcome = await creating;
      return [memory.getSessionSync(key) !== undefined, outcome, ways];
    `);
    assert.equal(stored, true);
    assert.deepEqual(outcome, { value: 'object' });
    assert.deepEqual(ways, ['later', 'now']);
  });

  it('keeps the order of calls, although a synchronous one loads the wasm between them', async () => {
    const found = await inChild<boolean>(`
      ${BOTH_WAYS}
      void adapted.createSession(key);
      memory.createSessionSync(key);
      return (await adapted.getSession(key)) !== undefined;
    `);
    assert.equal(found, true);
  });

  it('can fail without effect after a synchronous call has loaded the wasm', async () => {
    const outcome = await inChild<Outcome>(`
      ${BOTH_WAYS}
      loading.provideWasm({ ...both, module: async () => { throw new Error('out of memory'); } });
      const creating = codeOf(() => adapted.createSession(key));
      memory.createSessionSync(key);
      return creating;
    `);
    assert.deepEqual(outcome, { value: 'object' });
  });

  it('is tried again after a failure', async () => {
    const outcomes = await inChild<Outcome[]>(`
      ${BOTH_WAYS}
      loading.provideWasm({ ...both, module: async () => { throw new Error('out of memory'); } });
      const failed = await codeOf(() => adapted.createSession(key));
      loading.provideWasm(both);
      return [failed, await codeOf(() => adapted.createSession(key))];
    `);
    assert.equal(outcomes[0]?.code, 'wasm_unavailable');
    assert.match(outcomes[0]?.message ?? '', /out of memory.*tries again/);
    assert.deepEqual(outcomes[1], { value: 'object' });
  });
});
