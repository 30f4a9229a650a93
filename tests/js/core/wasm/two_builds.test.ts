import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from './child.js';

/** Programs with this condition load the package as pages do; those without it as Node does. */
const AS_PAGE = ['--conditions=browser'];

/** The number of compilations of each build. */
const COUNTING = `
  const { statSync } = await import('node:fs');
  const sizes = ['wasm', 'rules'].map((name) => statSync('pkg/adk_session_' + name + '_bg.wasm').size);
  const compiled = { all: 0, rules: 0 };
  const note = ({ byteLength }) => {
    if (byteLength === sizes[0]) compiled.all += 1;
    if (byteLength === sizes[1]) compiled.rules += 1;
  };
  const { compile } = WebAssembly;
  WebAssembly.compile = (bytes) => (note(bytes), compile(bytes));
  WebAssembly.Module = class extends WebAssembly.Module {
    constructor(bytes) { super(bytes); note(bytes); }
  };
`;

/** A cache without a connection, whose writes the wasm decides. */
const OPEN_CACHE = `
  const { CachedSessionService } = await import('adk-session-wasm/cache');
  const { RemoteSessionService } = await import('adk-session-wasm/remote');
  const fetch = async () => { throw new TypeError('offline'); };
  const remote = new RemoteSessionService({ url: 'http://127.0.0.1:1', fetch });
  const cache = new CachedSessionService({ remote, owner: 'ada', local: 'memory', readTimeoutMs: 10 });
  const write = async (sessionId = 's1') => {
    const session = await cache.getOrCreateSession({ ...key, sessionId });
    await cache.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { a: 1 } } } });
    return (await cache.getSession({ ...key, sessionId })).state;
  };
`;

const CACHE = `${COUNTING} ${OPEN_CACHE}`;

interface Result {
  readonly states: readonly unknown[];
  readonly compiled: { readonly all: number; readonly rules: number };
}

describe('The two builds of the wasm', () => {
  it('a page whose services keep no data in the wasm loads the rules alone', async () => {
    const result = await inChild<Result>(
      `${CACHE} return { states: [await write(), await write()], compiled };`,
      AS_PAGE,
    );
    assert.deepEqual(result, {
      states: [{ a: 1 }, { a: 1 }],
      compiled: { all: 0, rules: 1 },
    });
  });

  it('a cache in a page loads the rules when it is made, so its first write needs no connection', async () => {
    const result = await inChild<Result>(
      `${CACHE}
      const { setTimeout: wait } = await import('node:timers/promises');
      for (let tries = 0; compiled.rules === 0 && tries < 500; tries += 1) await wait(10);
      WebAssembly.compile = () => Promise.reject(new Error('offline'));
      return { states: [await write()], compiled };`,
      AS_PAGE,
    );
    assert.deepEqual(result, { states: [{ a: 1 }], compiled: { all: 0, rules: 1 } });
  });

  it('a page that has all at hand loads no rules beside it', async () => {
    const result = await inChild<Result>(
      `const { Template } = await import('adk-session-wasm');
      ${CACHE}
      const { length } = new Template('{a}').placeholders;
      return { states: [length, await write()], compiled };`,
      AS_PAGE,
    );
    assert.deepEqual(result, { states: [1, { a: 1 }], compiled: { all: 1, rules: 0 } });
  });

  it('a page that has the rules loads all for a service in memory, and each service goes on', async () => {
    const result = await inChild<Result>(
      `${CACHE}
      const states = [await write()];
      const { InMemorySessionService, Template } = await import('adk-session-wasm');
      states.push(new Template('{a}').placeholders.length, await write('s2'), { ...compiled });
      const memory = new InMemorySessionService();
      memory.createSessionSync({ ...key, state: { b: 2 } });
      states.push(memory.getSessionSync(key).state, await write('s3'));
      return { states, compiled };`,
      AS_PAGE,
    );
    assert.deepEqual(result, {
      states: [{ a: 1 }, 1, { a: 1 }, { all: 0, rules: 1 }, { b: 2 }, { a: 1 }],
      compiled: { all: 1, rules: 1 },
    });
  });

  it('Node loads one module', async () => {
    const result = await inChild<Result>(
      `${CACHE}
      const states = [await write()];
      const { InMemorySessionService } = await import('adk-session-wasm');
      await new InMemorySessionService().createSession(key);
      return { states, compiled };`,
    );
    assert.deepEqual(result, { states: [{ a: 1 }], compiled: { all: 1, rules: 0 } });
  });

  for (const [host, conditions] of [
    ['a page', AS_PAGE],
    ['Node', []],
  ] as const) {
    it(`${host} that imports the history alone views one with a rewind`, async () => {
      const shown = await inChild<readonly string[]>(
        `const { historyView } = await import('adk-session-wasm/history');
        const event = (invocationId) => ({
          id: invocationId, invocationId, author: 'user', timestamp: 1, content: { role: 'user', parts: [{ text: 'hi' }] },
        });
        const rewind = { ...event('i3'), content: undefined, actions: { rewindBeforeInvocationId: 'i2' } };
        const view = historyView([event('i1'), event('i2'), rewind], { agentName: 'guide' });
        return view.map(({ id }) => id);`,
        [...conditions],
      );
      assert.deepEqual(shown, ['i1']);
    });
  }

  it('the rules whose load failed are loaded by the next call', async () => {
    const [failed, ...result] = await inChild<[Outcome, unknown]>(
      `${COUNTING}
      const { compile: counted } = WebAssembly;
      WebAssembly.compile = () => Promise.reject(new Error('out of memory'));
      ${OPEN_CACHE}
      const failed = await codeOf(() => write());
      WebAssembly.compile = counted;
      return [failed, await write(), compiled];`,
      AS_PAGE,
    );
    assert.equal(failed.code, 'wasm_unavailable');
    assert.match(failed.message ?? '', /out of memory.*tries again/);
    assert.deepEqual(result, [{ a: 1 }, { all: 0, rules: 1 }]);
  });

  const DIE = `() => { throw new WebAssembly.RuntimeError('unreachable'); }`;

  it('the death of the rules ends no service in memory, whose instance was made during the write', async () => {
    const [died, inMemory] = await inChild<Outcome[]>(
      `${CACHE}
      await write();
      const { InMemorySessionService } = await import('adk-session-wasm');
      const memory = new InMemorySessionService();
      const { DrivenWrite } = await import('#rules-glue');
      const { create } = DrivenWrite;
      DrivenWrite.create = (...given) => {
        const write = create(...given);
        memory.createSessionSync(key);
        write.decide = ${DIE};
        return write;
      };
      const died = await codeOf(() => cache.createSession({ ...key, sessionId: 's2' }));
      return [died, await codeOf(() => memory.getSession(key))];`,
      AS_PAGE,
    );
    assert.equal(died?.code, 'internal', died?.message);
    assert.deepEqual(inMemory, { value: 'object' });
  });

  it('the death of all ends no cache', async () => {
    const [died, inMemory, inCache] = await inChild<Outcome[]>(
      `${CACHE}
      await write();
      const { InMemorySessionService } = await import('adk-session-wasm');
      const { WasmStorage } = await import('#glue');
      const memory = new InMemorySessionService();
      await memory.createSession(key);
      WasmStorage.prototype.append = ${DIE};
      const session = await memory.getSession(key);
      const died = await codeOf(() => memory.appendEvent({ session, event: { author: 'user' } }));
      return [died, await codeOf(() => memory.getSession(key)), await codeOf(() => write('s3'))];`,
      AS_PAGE,
    );
    assert.deepEqual([died?.code, inMemory?.code], ['internal', 'internal']);
    assert.deepEqual(inCache, { value: 'object' });
  });
});
