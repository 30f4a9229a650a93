// IndexedDbSessionService on a host without IndexedDB. tests/browser has the other tests.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  IndexedDbSessionService,
  InMemorySessionService,
  isSessionError,
  openSessionService,
  requestPersistence,
  storageUsage,
  type OpenSessionServiceOptions,
  type SessionError,
} from '../../../js/index.js';
import { IndexedDbSessionService as FrameworkDatabase, openSessionService as openFramework } from '../../../js/service/adk/index.js'; // prettier-ignore
import type { Call } from '../../../js/core/call/call.js';
import { parseTexts } from '../../../js/core/storage/stored_events.js';
import { WasmStore } from '../../../js/core/storage/wasm/wasm_store.js';
import { createMemoryStorage } from '../../../js/core/wasm/all.js';
import { ServiceCore } from '../../../js/service/service_core.js';
import { StoredSessionService } from '../../../js/service/stored_session_service.js';
import { deleteWords, eraseWords } from '../../../js/stores/indexed_db/word_records.js';
import { wholeStorage } from './whole_storage.js';
import { APP, everyCall, failure, KEY, says, texts } from './fixture.js';

const BAD_OPTIONS: [option: string, values: unknown[]][] = [
  ['name', ['', 5, '\ud800', 'x'.repeat(513), {}, ['a']]],
  ['durability', ['', 'Strict', 'default', true, 5, {}]],
  ['timeoutMs', [0, -1, NaN, Infinity, 2 ** 31, '5', 5n, {}]],
];

function thrown(run: () => unknown): SessionError {
  try {
    run();
  } catch (error) {
    assert.ok(isSessionError(error), String(error));
    return error;
  }
  assert.fail('it did not throw');
}

describe('An IndexedDbSessionService', () => {
  it('can be constructed on any host', () => {
    for (const options of [
      undefined,
      {},
      { name: 'mine', durability: 'strict' as const, timeoutMs: 2 ** 31 - 1 },
    ]) {
      // prettier-ignore
      const service = new IndexedDbSessionService(options);
      assert.deepEqual(service.storage, { kind: 'indexeddb', durable: true });
    }
  });

  for (const [option, values] of BAD_OPTIONS) {
    for (const value of values) {
      it(`refuses ${option} ${typeof value === 'string' ? JSON.stringify(value.slice(0, 9)) : String(value)}`, async () => {
        const error = thrown(() => new IndexedDbSessionService({ [option]: value }));
        assert.deepEqual([error.code, error.key], ['invalid_argument', option]);
        for (const storage of ['indexeddb', 'auto'] as const) {
          const opening = openSessionService({ storage, [option]: value });
          assert.equal((await failure(opening, 'invalid_argument')).key, option);
        }
      });
    }
  }

  it('refuses invalid options and an unknown policy', () => {
    for (const options of [null, 5, 'strict', true]) {
      const error = thrown(() => new IndexedDbSessionService(options as never));
      assert.equal(error.code, 'invalid_argument');
    }
    const error = thrown(() => new IndexedDbSessionService({ stale: 'never' as never }));
    assert.equal(error.key, 'stale');
  });

  it('rejects every call with `storage_unavailable` without IndexedDB', async () => {
    const service = new IndexedDbSessionService();
    const session = { ...(await new InMemorySessionService().createSession(KEY)) };
    const event = says('x', { a: 1 });
    const before = structuredClone([session, event]);
    for (const call of [
      () => service.ping(),
      ...everyCall(service, session, event),
      () => service.updateState({ ...APP, stateDelta: { 'app:a': 1 } }),
      () => IndexedDbSessionService.deleteDatabase(),
    ]) {
      assert.match((await failure(call(), 'storage_unavailable')).message, /IndexedDB/i);
    }
    assert.deepEqual([session, event], before);
    await service.close();
    await failure(service.ping(), 'closed');
  });

  it('can be closed unused', async () => {
    await new IndexedDbSessionService().close();
  });

  it('does not open the database if the signal has fired', async () => {
    const signal = AbortSignal.abort();
    await failure(new IndexedDbSessionService().ping({ signal }), 'aborted');
  });

  it('ends a read whose signal fires, although the browser does not answer', async () => {
    await new InMemorySessionService().ping();
    const never = new Promise<never>(() => undefined);
    const core = new Proxy({}, { get: () => () => never });
    const storage = { holdsData: false, parse: () => [] };
    const store = new WasmStore(core as never, storage);
    const list = { appName: 'app', order: 'asc', orderBy: 'lastUpdateTime' } as const;
    const numbers = { offset: 0, limit: undefined, withTotal: false };
    const page = { key: KEY, direction: 'after', eventId: undefined, limit: 1 } as const;
    const reads: Record<string, (call: Call) => unknown> = {
      open: (call) => store.open(call),
      window: (call) => store.read({ kind: 'window', key: KEY }, call),
      page: (call) => store.read({ kind: 'page', ...page, withCount: false }, call),
      list: (call) => store.list({ ...list, ...numbers }, call),
      state: (call) => store.state({ scope: 'app', ...APP }, call),
    };
    for (const [verb, read] of Object.entries(reads)) {
      const stop = new AbortController();
      const reading = Promise.resolve(read({ signal: stop.signal }));
      stop.abort(new Error(verb));
      const error = await failure(reading, 'aborted');
      assert.equal((error.cause as Error).message, verb);
    }
  });

  it('refuses to delete a database with an invalid name', async () => {
    for (const name of ['', 5, null, '\ud800']) {
      const deleting = IndexedDbSessionService.deleteDatabase(name as never);
      assert.equal((await failure(deleting, 'invalid_argument')).key, 'name');
    }
    for (const options of [null, 5, { timeoutMs: 0 }]) {
      await failure(IndexedDbSessionService.deleteDatabase('x', options as never), 'invalid_argument'); // prettier-ignore
    }
  });
});

describe('openSessionService without IndexedDB', () => {
  it('rejects for indexeddb', async () => {
    await failure(openSessionService({ storage: 'indexeddb' }), 'storage_unavailable');
    await failure(openFramework({ storage: 'indexeddb' }), 'storage_unavailable');
  });

  it('uses memory for auto, and says why', async () => {
    const service = await openSessionService({ storage: 'auto', name: 'mine', stale: 'reject' });
    assert.equal(service.constructor, InMemorySessionService);
    const { kind, durable, reason } = service.storage;
    assert.deepEqual([kind, durable], ['memory', false]);
    assert.match(reason ?? '', /IndexedDB/i);
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('one') });
    assert.deepEqual(texts(session), ['one']);
    assert.equal(new InMemorySessionService().storage.reason, undefined);
  });

  it('uses memory for auto in ./adk too', async () => {
    const service = await openFramework({ storage: 'auto' });
    assert.equal(service.storage.kind, 'memory');
    assert.match(service.storage.reason ?? '', /IndexedDB/i);
    assert.equal((await service.createSession(KEY)).id, 'session');
  });

  it('does not hide any other failure', async () => {
    const { openDatabase } = await import('../../../js/service/open_session_service.js');
    const { SESSION_ERROR_CODES, SessionError } =
      await import('../../../js/values/errors/errors.js');
    for (const code of SESSION_ERROR_CODES) {
      const failing = {
        isClosed: false,
        ping: () => Promise.reject(new SessionError(code, 'why')),
        close(): Promise<void> {
          this.isClosed = true;
          return Promise.reject(new Error('this as well'));
        },
      };
      const opening = openDatabase('auto', failing, () => new InMemorySessionService());
      if (code === 'storage_unavailable') {
        const expected = { kind: 'memory', durable: false, reason: 'why' };
        assert.deepEqual((await opening as InMemorySessionService).storage, expected); // prettier-ignore
      } else {
        await failure(opening, code);
      }
      assert.ok(failing.isClosed);
    }
  });
});

describe('The services for the framework', () => {
  it('exist for every storage', async () => {
    const database = new FrameworkDatabase({ name: 'mine' });
    assert.deepEqual(database.storage, { kind: 'indexeddb', durable: true });
    await failure(database.ping(), 'storage_unavailable');
    await failure(database.createSession(KEY), 'storage_unavailable');
    await failure(FrameworkDatabase.deleteDatabase('mine'), 'storage_unavailable');
    assert.equal((await openFramework({ storage: 'memory' })).storage.kind, 'memory');
    const service = await openFramework({ storage: wholeStorage() });
    assert.deepEqual(service.storage, { kind: 'custom', durable: false });
    const session = await service.createSession({ ...KEY, state: { a: 1 } });
    const late = (await service.getSession(KEY))!;
    await service.appendEvent({ session, event: says('one', { b: 1 }) });
    await service.appendEvent({ session: late, event: says('two') });
    assert.equal(late.events.length, 1, 'it is not told of foreign events');
    await service.close();
  });

  it("refuse the same options as the package's own", async () => {
    assert.equal(thrown(() => new FrameworkDatabase({ name: '' })).key, 'name');
    for (const options of [undefined, null, {}, { storage: 'disk' }, { storage: {} }]) {
      await failure(openFramework(options as never), 'invalid_argument');
    }
  });
});

describe('The words of searches in IndexedDB', () => {
  const withIndexedDb = async (members: object, run: () => Promise<unknown>): Promise<void> => {
    Object.defineProperty(globalThis, 'indexedDB', { value: members, configurable: true });
    try {
      await run();
    } finally {
      Reflect.deleteProperty(globalThis, 'indexedDB');
    }
  };

  it('that another page has open keep no deletion from ending', { timeout: 5000 }, () => {
    const deleteDatabase = () => {
      const request = { onblocked: () => undefined };
      setTimeout(() => request.onblocked());
      return request;
    };
    return withIndexedDb({ deleteDatabase }, () => deleteWords('mine'));
  });

  it('fail with `storage_failed` if the browser refuses to open them', () => {
    const open = () => {
      throw new DOMException('It is refused.', 'SecurityError');
    };
    return withIndexedDb({ open }, () =>
      failure(eraseWords('mine', ['app', 'user']), 'storage_failed'),
    );
  });

  it('that cannot be erased keep no notice of the deletion back', async () => {
    const core = new ServiceCore(
      {
        storage: { kind: 'indexeddb', durable: true },
        openStore: () => {
          const parse = (texts: unknown) => parseTexts(texts as readonly string[]);
          return new WasmStore(createMemoryStorage(), { holdsData: true, parse });
        },
        words: { name: 'mine', erase: () => Promise.reject(new Error('The disk is full.')) },
      },
      {},
    );
    const service = new StoredSessionService(core);
    await service.createSession(KEY);
    const heard: string[] = [];
    const stop = service.watch(KEY, { onNotice: ({ type }) => void heard.push(type) });
    await assert.rejects(service.deleteSession(KEY), /full/);
    assert.deepEqual(heard, ['deleted']);
    stop();
    await service.close();
  });
});

describe('The quota of a site', () => {
  const withNavigator = async (storage: unknown, run: () => Promise<void>): Promise<void> => {
    const original = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: { storage }, configurable: true });
    try {
      await run();
    } finally {
      Reflect.deleteProperty(globalThis, 'navigator');
      if (original !== undefined) Object.defineProperty(globalThis, 'navigator', original);
    }
  };

  it("is the browser's estimate", async () => {
    const estimate = { usage: 5, quota: 10, usageDetails: {} };
    for (const persist of [true, false]) {
      const storage = { persist: () => Promise.resolve(persist), estimate: () => Promise.resolve(estimate) }; // prettier-ignore
      await withNavigator(storage, async () => {
        assert.equal(await requestPersistence(), persist);
        assert.deepEqual(await storageUsage(), { usage: 5, quota: 10 });
      });
    }
  });

  it('is unknown if the host does not tell it', async () => {
    const fails = (): never => {
      throw new TypeError('not here');
    };
    const rejects = () => Promise.reject(new TypeError('not here'));
    for (const storage of [
      undefined,
      null,
      {},
      { persist: fails, estimate: fails },
      { persist: rejects, estimate: rejects },
      { persist: () => undefined, estimate: () => Promise.resolve({}) },
      { persist: () => undefined, estimate: () => Promise.resolve({ usage: 1 }) },
    ]) {
      await withNavigator(storage, async () => {
        assert.equal(await requestPersistence(), false);
        assert.equal(await storageUsage(), undefined);
      });
    }
  });
});

describe('openSessionService', () => {
  it('accepts the options of the storage', () => {
    const sound: OpenSessionServiceOptions[] = [
      { storage: 'memory', stale: 'append' },
      { storage: wholeStorage(), clock: () => 5 },
      { storage: 'indexeddb', name: 'x', durability: 'strict', timeoutMs: 5 },
      { storage: 'auto', name: undefined, newId: () => 'x' },
    ];
    // @ts-expect-error there is no database in memory
    const named: OpenSessionServiceOptions = { storage: 'memory', name: 'x' };
    // @ts-expect-error nor in a storage
    const strict: OpenSessionServiceOptions = { storage: wholeStorage(), durability: 'strict' };
    const given = { storage: 'memory' as const, timeoutMs: 5 };
    // @ts-expect-error also not by way of a variable
    const timed: OpenSessionServiceOptions = given;
    // @ts-expect-error there is no such durability
    const wrong: OpenSessionServiceOptions = { storage: 'auto', durability: 'default' };
    // @ts-expect-error there is no such storage
    const unknown: OpenSessionServiceOptions = { storage: 'disk' };
    assert.equal([...sound, named, strict, timed, wrong, unknown].length, 9);
  });
});
