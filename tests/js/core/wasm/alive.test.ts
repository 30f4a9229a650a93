import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from './child.js';

/** A session in memory and one in a storage. `alive()` returns the outcome of a call of each. */
const SERVICES = `
  const adk = await load('index.js');
  const { MapStorage } = await load('../tests/js/service/map_storage.js');
  const storage = new MapStorage();
  const memory = new adk.InMemorySessionService();
  const foreign = await adk.openSessionService({ storage });
  const session = await memory.createSession(key);
  const other = await foreign.createSession(key);
  const unheard = [];
  for (const name of ['unhandledRejection', 'uncaughtException']) {
    process.on(name, (error) => unheard.push(name + ': ' + error));
  }
  const append = (service, session) =>
    codeOf(() => service.appendEvent({ session, event: adk.createEvent() }));
  const alive = async () => [
    (await append(memory, session)).code ?? 'memory',
    (await append(foreign, other)).code ?? 'storage',
    (await codeOf(() => foreign.createSession({ ...key, sessionId: undefined }))).code ?? 'create',
    (await codeOf(() => foreign.close())).code ?? 'closed',
    ...unheard,
  ];
`;
const ALL = ['memory', 'storage', 'create', 'closed'];

describe("An exception of the caller's or a storage's code", () => {
  for (const [what, error] of Object.entries({
    'a RangeError': 'new RangeError("Invalid array length")',
    'a stack overflow': 'new RangeError("Maximum call stack size exceeded")',
    'a trap of another wasm': 'new WebAssembly.RuntimeError("unreachable")',
  })) {
    it(`does not end services in memory: ${what} of a storage`, async () => {
      const [append, read, create, after] = await inChild<[Outcome, Outcome, Outcome, string[]]>(`
        ${SERVICES}
        const fail = () => { throw ${error}; };
        const [write, rows] = [storage.write, storage.rows];
        Object.assign(storage, { write: fail, rows: fail });
        const event = adk.createEvent();
        const outcomes = [
          await codeOf(() => foreign.appendEvent({ session: other, event })),
          await codeOf(() => foreign.getSession(key)),
          await codeOf(() => foreign.createSession({ ...key, sessionId: 'next' })),
        ];
        Object.assign(storage, { write, rows });
        return [...outcomes, await alive()];
      `);
      const codes = [append, read, create].map(({ code }) => code);
      assert.deepEqual(codes, Array(3).fill('storage_failed'));
      assert.deepEqual(after, ALL);
    });

    it(`does not end services in memory: ${what} of a getter, a clock or a state writer`, async () => {
      const [outcomes, after] = await inChild<[Outcome[], string[]]>(`
        ${SERVICES}
        const fail = () => { throw ${error}; };
        const hostile = (target, name) => Object.defineProperty(target, name, { get: fail, enumerable: true });
        const bad = new adk.InMemorySessionService({ clock: fail });
        const outcomes = [
          await codeOf(() => memory.appendEvent({ session, event: hostile(adk.createEvent(), 'author') })),
          await codeOf(() => memory.appendEvent({ session: hostile({ ...session }, 'id'), event: adk.createEvent() })),
          await codeOf(() => memory.createSession(hostile({ ...key }, 'state'))),
          await codeOf(() => bad.createSession(key)),
        ];
        return [outcomes, await alive()];
      `);
      for (const { value } of outcomes) assert.equal(value, undefined);
      assert.deepEqual(after, ALL);
    });
  }

  it('does not end services in memory: a storage’s list that throws when it is read again', async () => {
    const [read, after] = await inChild<[Outcome, string[]]>(`
      ${SERVICES}
      const { rows } = storage;
      storage.rows = function (request) {
        let count = 0;
        const get = (target, name, receiver) => {
          if (name === 'length' && (count += 1) > 1) throw new RangeError('read twice');
          return Reflect.get(target, name, receiver);
        };
        return { ...rows.call(storage, request), events: new Proxy([], { get }) };
      };
      const read = await codeOf(() => foreign.getSession(key));
      storage.rows = rows;
      return [read, await alive()];
    `);
    assert.notEqual(read.code, 'internal');
    assert.deepEqual(after, ALL);
  });
});

it("A storage's write is freed, whatever the storage throws", async () => {
  const [codes, begun, freed, after] = await inChild<[string[], number, number, string[]]>(`
    ${SERVICES}
    const { DrivenWrite } = await import('#glue');
    const { append: begin } = DrivenWrite;
    const { free } = DrivenWrite.prototype;
    let [begun, freed] = [0, 0];
    DrivenWrite.append = (...values) => {
      begun += 1;
      return begin(...values);
    };
    DrivenWrite.prototype.free = function () {
      free.call(this);
      freed += 1;
    };
    const { write } = storage;
    storage.write = () => { throw new RangeError('Invalid array length'); };
    const codes = [];
    for (let number = 0; number < 20; number += 1) codes.push((await append(foreign, other)).code);
    storage.write = write;
    return [codes, begun, freed, await alive()];
  `);
  assert.deepEqual(codes, Array(20).fill('storage_failed'));
  assert.equal(freed, begun);
  assert.deepEqual(after, ALL);
});

describe('An exception that JavaScript throws into the wasm', () => {
  /** Throws once when the core sets that member of its next result. */
  const throwOnce = (error: string, member: string): string => `
    Object.defineProperty(Object.prototype, '${member}', {
      configurable: true,
      set() {
        delete Object.prototype.${member};
        throw ${error};
      },
    });
  `;

  /** A retry: the core returns an object with the event that is unchanged. */
  const retry = `
    const event = adk.createEvent();
    await foreign.appendEvent({ session: other, event });
  `;
  const retryNext = 'codeOf(() => foreign.appendEvent({ session: other, event }))';

  for (const thrown of ['new RangeError("Invalid array length")', '"a string"']) {
    it(`rejects a call over a storage, and the next call works: ${thrown}`, async () => {
      const [append, after] = await inChild<[Outcome, string[]]>(`
        ${SERVICES}
        ${retry}
        ${throwOnce(thrown, 'unchanged')}
        return [await ${retryNext}, await alive()];
      `);
      assert.equal(append.code, 'internal');
      assert.equal(append.isError, true);
      assert.deepEqual(after, ALL);
    });
  }

  it('throws out of a call over memory, and the next call works', async () => {
    const [read, after] = await inChild<[Outcome, string[]]>(`
      ${SERVICES}
      ${throwOnce('new RangeError("Invalid array length")', 'revision')}
      return [await codeOf(() => memory.getSession(key)), await alive()];
    `);
    assert.equal(read.code, 'internal');
    assert.deepEqual(after, ALL);
  });

  it('ends only services in memory if the wasm stopped', async () => {
    const [append, after] = await inChild<[Outcome, string[]]>(`
      ${SERVICES}
      ${retry}
      ${throwOnce('new WebAssembly.RuntimeError("unreachable")', 'unchanged')}
      return [await ${retryNext}, await alive()];
    `);
    assert.equal(append.code, 'internal');
    assert.deepEqual(after, ['internal', ...ALL.slice(1)]);
  });
});

describe('A stack that overflows', () => {
  it('ends no service if the wasm was not running, and leaves no partial write', async () => {
    const [codes, isWhole] = await inChild<[string[], boolean]>(`
      const adk = await load('index.js');
      const service = new adk.InMemorySessionService();
      service.createSessionSync(key);
      // From the deepest possible frame outwards: the glue, the core and the TypeScript code overflow in turn.
      let codes = [];
      let count = 0;
      const sink = () => {
        try {
          sink();
        } catch {}
        if (count++ > 400) return;
        try {
          service.createSessionSync({ ...key, sessionId: 'deep ' + count });
          codes.push('stored');
        } catch (error) {
          codes.push(error.code ?? error.name);
        }
      };
      sink();
      const list = await codeOf(() => service.listSessions({ appName: 'app' }));
      const isWhole =
        list.code === 'internal' ||
        service.listSessionsSync({ appName: 'app' }).totalItems ===
          1 + codes.filter((code) => code === 'stored').length;
      return [[...new Set(codes)], isWhole];
    `);
    assert.ok(codes.length > 0);
    assert.equal(isWhole, true, codes.join());
  });
});
