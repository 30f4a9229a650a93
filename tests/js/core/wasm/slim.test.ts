import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { AddressInfo } from 'node:net';

import { httpServer } from '../../../http_server.js';
import { inChild, type Outcome } from './child.js';

const BYTES = `(await import('node:fs')).readFileSync('pkg/adk_session_wasm_bg.wasm')`;
const HANDLE = `{ id: 's1', appName: 'app', userId: 'user', state: {}, events: [] }`;
const CREATE = 'codeOf(() => new slim.InMemorySessionService().createSession(key))';

describe('The slim entry', () => {
  for (const [what, location] of [
    ['bytes', BYTES],
    ['an ArrayBuffer', `new Uint8Array(${BYTES}).buffer`],
    ['a view of part of a buffer', `Buffer.concat([Buffer.alloc(7), ${BYTES}]).subarray(7)`],
    ['a module', `new WebAssembly.Module(${BYTES})`],
    ['a response', `new Response(${BYTES}, { headers: { 'content-type': 'application/wasm' } })`],
    ['a response of another content type', `new Response(${BYTES}, { headers: { 'content-type': 'text/plain' } })`], // prettier-ignore
    ['a promise of bytes', `Promise.resolve(${BYTES})`],
    ['a promise of a module', `WebAssembly.compile(${BYTES})`],
  ]) {
    it(`loads the wasm from ${what}`, async () => {
      const outcome = await inChild<Outcome>(`
        const slim = await import('adk-session-wasm/slim');
        await slim.loadWasm(${location});
        await slim.loadWasm(${location});
        return codeOf(() => new slim.InMemorySessionService().createSessionSync(key));
      `);
      assert.deepEqual(outcome, { value: 'object' });
    });
  }

  it('ends the calls whose signal fires while the wasm loads', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      void slim.loadWasm(new Promise(() => undefined));
      const service = new slim.InMemorySessionService();
      const stop = new AbortController();
      const { signal } = stop;
      setTimeout(() => stop.abort(), 20);
      return Promise.all([
        codeOf(() => service.createSession({ ...key, signal })),
        codeOf(() => service.ping({ signal })),
        codeOf(() => service.updateState({ ...key, stateDelta: { a: 1 }, signal })),
        codeOf(() => service.updateState({ appName: 'app', stateDelta: { 'app:a': 1 }, signal })),
        codeOf(() => service.appendEvent({ session: ${HANDLE}, event: {}, signal })),
      ]);
    `);
    assert.deepEqual(
      outcomes.map(({ code }) => code),
      Array.from({ length: 5 }, () => 'aborted'),
    );
  });

  it('ends the calls that wait for a location that never comes, and takes the next one', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      const timer = setTimeout;
      globalThis.setTimeout = (run, ms) => timer(run, ms === 60_000 ? 20 : ms);
      const create = () => ${CREATE};
      const never = new Promise(() => undefined);
      const stuck = new Response(new ReadableStream());
      const outcomes = [];
      for (const location of [never, stuck]) {
        const loading = codeOf(() => slim.loadWasm(location));
        outcomes.push(await create(), await loading);
      }
      // Compiling may take longer than the short limit.
      globalThis.setTimeout = timer;
      await slim.loadWasm(${BYTES});
      return [...outcomes, await create()];
    `);
    assert.deepEqual(
      outcomes.map(({ code, value }) => code ?? value),
      [...Array.from({ length: 4 }, () => 'wasm_unavailable'), 'object'],
    );
  });

  it('opens no storage for calls that wait for the wasm while the service closes', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      let load;
      const loading = slim.loadWasm(new Promise((resolve) => (load = resolve)));
      const service = new slim.InMemorySessionService();
      const outcomes = Promise.all([
        codeOf(() => service.createSession(key)),
        codeOf(() => service.appendEvent({ session: ${HANDLE}, event: {} })),
      ]);
      await service.close({ timeoutMs: 0 });
      load(${BYTES});
      await loading;
      return outcomes;
    `);
    assert.deepEqual(
      outcomes.map(({ code }) => code),
      ['closed', 'closed'],
    );
  });

  for (const [what, location, names] of [
    ['a response of 404', `new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } })`, /HTTP 404, text\/html/], // prettier-ignore
    ['a page in the place of the file', `new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })`, /HTTP 200, text\/html/], // prettier-ignore
    ['an empty response', 'new Response()', /HTTP 200, no content type/],
    ['wasm with an error status', `new Response(${BYTES}, { status: 500 })`, /HTTP 500/],
    ['bytes that are no wasm', 'new Uint8Array(100)', /WebAssembly/],
    ['bytes cut short', `(${BYTES}).subarray(0, 1000)`, /WebAssembly/],
    ['no bytes', 'new Uint8Array(0)', /WebAssembly/],
    ['a number', '5', /./],
    ['undefined', 'undefined', /./],
    ['null', 'null', /./],
    ['a promise that is rejected', `Promise.reject(new Error('offline'))`, /offline/],
    ['an invalid address', `'not an address'`, /not an address/],
    ['an address where nobody answers', `'http://127.0.0.1:1/a.wasm'`, /127\.0\.0\.1:1|fetch failed/], // prettier-ignore
    ['a response that was read before', `(async () => { const response = new Response(${BYTES}); await response.text(); return response; })()`, /./], // prettier-ignore
  ] as const) {
    it(`reports ${what}, and accepts another location afterwards`, async () => {
      const [wrong, call, right] = await inChild<[Outcome, Outcome, Outcome]>(`
        const slim = await import('adk-session-wasm/slim');
        const wrong = await codeOf(async () => slim.loadWasm(${location}));
        const call = await ${CREATE};
        await slim.loadWasm(${BYTES});
        return [wrong, call, await ${CREATE}];
      `);
      assert.equal(wrong.code, 'wasm_unavailable', wrong.message);
      assert.equal(wrong.isError, true);
      assert.match(wrong.message ?? '', names);
      assert.equal(call.code, 'wasm_unavailable', 'the next call tries again, and fails as well');
      assert.deepEqual(right, { value: 'object' });
    });
  }

  it('accepts another location during a load', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      let fail;
      const slow = slim.loadWasm(new Promise((_, reject) => (fail = reject))).then(() => ({}), (error) => ({ code: error.code }));
      const early = await codeOf(() => new slim.InMemorySessionService().createSessionSync(key));
      const right = await codeOf(async () => slim.loadWasm(${BYTES}));
      fail(new Error('the old source'));
      return [await slow, early, right, await ${CREATE}];
    `);
    const [, early, right, created] = outcomes;
    assert.equal(early?.code, 'not_loaded');
    assert.equal(right?.code, undefined, right?.message);
    assert.deepEqual(created, { value: 'object' });
  });

  it('reports that no location was given', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      return [
        await ${CREATE},
        await codeOf(() => slim.openSessionService({ storage: 'memory' })),
      ];
    `);
    for (const { code, message } of outcomes) {
      assert.equal(code, 'wasm_unavailable');
      assert.match(message ?? '', /no source/);
    }
  });

  it('throws `not_loaded` for a synchronous call before the load, and serves later ones', async () => {
    const outcomes = await inChild<Record<string, Outcome>>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const wasm = await WebAssembly.compile(${BYTES});
      const loading = slim.loadWasm(wasm);
      const outcomes = {
        create: await codeOf(() => service.createSessionSync(key)),
      };
      await loading;
      outcomes.later = await codeOf(() => service.createSessionSync(key));
      return outcomes;
    `);
    // The await does not delay the call: codeOf calls immediately.
    assert.equal(outcomes.create?.code, 'not_loaded');
    assert.match(outcomes.create?.message ?? '', /await|loadWasm/);
    assert.deepEqual(outcomes.later, { value: 'object' });
  });

  it('delays earlier calls until the wasm is loaded, in their order', async () => {
    const [texts, codes] = await inChild<[string[], Outcome[]]>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const bytes = ${BYTES};
      const loading = slim.loadWasm(new Promise((resolve) => setTimeout(() => resolve(bytes), 20)));
      const creating = service.createSession(key);
      const again = codeOf(() => service.createSession(key));
      const template = slim.injectSessionState;
      const [session] = await Promise.all([creating, loading]);
      const event = (id) => slim.createEvent({ id });
      await Promise.all(['a', 'b', 'c'].map((id) => service.appendEvent({ session, event: event(id) })));
      return [session.events.map(({ id }) => id), [await again]];
    `);
    assert.deepEqual(texts, ['a', 'b', 'c']);
    assert.equal(codes[0]?.code, 'already_exists');
  });

  it('appends during the load in order, before later calls, and without an append whose signal fires', async () => {
    const [aborted, counts, texts, state] = await inChild<[Outcome, number[], string[], unknown]>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const bytes = ${BYTES};
      const loading = slim.loadWasm(new Promise((resolve) => setTimeout(() => resolve(bytes), 20)));
      void service.createSession(key);
      const { sessionId: id, ...user } = key;
      const session = { id, ...user, state: {}, events: [], lastUpdateTime: 0 };
      const append = (id, more = {}) =>
        service.appendEvent({ session, event: slim.createEvent({ id, actions: { stateDelta: { last: id } } }), ...more });
      const controller = new AbortController();
      const appends = [append('a')];
      const aborted = codeOf(() => append('b', { signal: controller.signal }));
      appends.push(append('c'));
      const reads = [service.getSession(key)];
      // The wasm is loaded now, or nearly. This append must not overtake the others.
      void loading.then(() => appends.push(append('d')));
      controller.abort();
      await loading;
      reads.push(service.getSession(key));
      await Promise.all(appends);
      const counts = (await Promise.all(reads)).map((read) => read.events.length);
      const stored = await service.getSession(key);
      return [await aborted, counts, stored.events.map(({ id }) => id), session.state];
    `);
    assert.equal(aborted.code, 'aborted');
    assert.deepEqual(counts, [2, 3]);
    assert.deepEqual([texts, state], [['a', 'c', 'd'], { last: 'd' }]);
  });

  it('takes a snapshot at the call, even during the load', async () => {
    const state = await inChild<unknown>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const bytes = ${BYTES};
      void slim.loadWasm(new Promise((resolve) => setTimeout(() => resolve(bytes), 20)));
      const request = { ...key, state: { list: [1] } };
      const creating = service.createSession(request);
      request.state.list.push(2);
      request.userId = 'other';
      const session = await creating;
      return [session.userId, session.state];
    `);
    assert.deepEqual(state, ['user', { list: [1] }]);
  });

  it('closes during the load', async () => {
    const outcomes = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const bytes = ${BYTES};
      void slim.loadWasm(new Promise((resolve) => setTimeout(() => resolve(bytes), 20)));
      const creating = codeOf(() => service.createSession(key));
      const closing = codeOf(() => service.close());
      return [await creating, await closing, await codeOf(() => service.getSession(key))];
    `);
    assert.deepEqual(outcomes[0], { value: 'object' });
    assert.deepEqual(outcomes[1], { value: 'undefined' });
    assert.equal(outcomes[2]?.code, 'closed');
  });

  it('stops a call whose signal fires during the load', async () => {
    const [stopped, session] = await inChild<[Outcome, Outcome]>(`
      const slim = await import('adk-session-wasm/slim');
      const service = new slim.InMemorySessionService();
      const bytes = ${BYTES};
      const loading = slim.loadWasm(new Promise((resolve) => setTimeout(() => resolve(bytes), 20)));
      const controller = new AbortController();
      const creating = codeOf(() => service.createSession({ ...key, signal: controller.signal }));
      controller.abort();
      const stopped = await creating;
      await loading;
      return [stopped, await codeOf(() => service.getSession(key))];
    `);
    assert.equal(stopped.code, 'aborted');
    assert.deepEqual(session, { value: 'undefined' });
  });
});

describe('The slim entry with a URL', () => {
  let server: Server;
  let address = '';
  const answers: ({ status: number; type: string; body: Buffer } | 'none')[] = [];
  let asked = 0;
  const wasm = readFileSync(new URL('../../../../pkg/adk_session_wasm_bg.wasm', import.meta.url));

  before(async () => {
    server = httpServer((_, response) => {
      asked += 1;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === 'none') return;
      response.writeHead(answer?.status ?? 500, { 'content-type': answer?.type }).end(answer?.body);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/adk.wasm`;
  });
  after(() => server.close());

  it('fetches it, whatever its content type', async () => {
    answers.splice(0, Infinity, { status: 200, type: 'application/octet-stream', body: wasm });
    const outcome = await inChild<Outcome>(`
      const slim = await import('adk-session-wasm/slim');
      await slim.loadWasm(new URL(${JSON.stringify(address)}));
      return ${CREATE};
    `);
    assert.deepEqual(outcome, { value: 'object' });
  });

  it('reports URL, status and type of a response without wasm; the next call fetches again', async () => {
    const html = Buffer.from('<!doctype html><title>Not found</title>');
    answers.splice(
      0,
      Infinity,
      { status: 404, type: 'text/html; charset=utf-8', body: html },
      { status: 200, type: 'text/html', body: html },
      { status: 200, type: 'application/wasm', body: wasm },
    );
    asked = 0;
    const [first, second, third] = await inChild<Outcome[]>(`
      const slim = await import('adk-session-wasm/slim');
      return [
        await codeOf(() => slim.loadWasm(${JSON.stringify(address)})),
        await ${CREATE},
        await ${CREATE},
      ];
    `);
    assert.equal(first?.code, 'wasm_unavailable');
    assert.ok(first.message?.includes(address), first.message);
    assert.match(first.message ?? '', /HTTP 404, text\/html; charset=utf-8/);
    assert.equal(second?.code, 'wasm_unavailable');
    assert.match(second.message ?? '', /HTTP 200, text\/html/);
    assert.deepEqual(third, { value: 'object' });
    assert.equal(asked, 3);
  });

  it('reports a server that does not answer within a minute; the next call fetches again', async () => {
    answers.splice(0, Infinity, 'none', { status: 200, type: 'application/wasm', body: wasm });
    const [first, second] = await inChild<[Outcome, Outcome]>(`
      const slim = await import('adk-session-wasm/slim');
      const timer = setTimeout;
      // Long enough for the request to reach the server on a busy machine.
      globalThis.setTimeout = (run, ms) => timer(run, ms === 60_000 ? 3000 : ms);
      const first = await codeOf(() => slim.loadWasm(${JSON.stringify(address)}));
      globalThis.setTimeout = timer;
      return [first, await ${CREATE}];
    `);
    assert.equal(first.code, 'wasm_unavailable');
    assert.match(first.message ?? '', /within 60000 ms/);
    assert.deepEqual(second, { value: 'object' });
  });

  it('fetches once for many calls', async () => {
    answers.splice(0, Infinity, { status: 200, type: 'application/wasm', body: wasm });
    asked = 0;
    const count = await inChild<number>(`
      const slim = await import('adk-session-wasm/slim');
      void slim.loadWasm(${JSON.stringify(address)});
      const service = new slim.InMemorySessionService();
      const all = [1, 2, 3, 4].map(() => service.getOrCreateSession(key));
      return (await Promise.all(all)).length;
    `);
    assert.deepEqual([count, asked], [4, 1]);
  });
});
