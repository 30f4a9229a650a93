import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type Decide,
  type Found,
  InMemorySessionService,
  openSessionService,
  SessionError,
  type StorageAdapter,
  type StorageWriteRequest,
} from '../../../js/index.js';
import { APP, failure, KEY, openOver, says, show, stored, texts, USER } from './fixture.js';
import { MapStorage } from './map_storage.js';

type Verb = 'create' | 'append' | 'read' | 'list' | 'delete';

const VERBS: readonly Verb[] = ['create', 'append', 'read', 'list', 'delete'];

/** A service over a sound storage, with one session; then `spoil` makes the storage unsound. */
async function faulty(spoil: (storage: MapStorage) => void) {
  const storage = new MapStorage();
  const service = await openOver(storage);
  const session = await service.createSession({ ...KEY, state: { a: 1, 'user:u': 1, 'app:p': 1 } });
  await service.appendEvent({ session, event: { ...says('one'), id: 'e1' } });
  spoil(storage);
  const calls: Record<Verb, () => Promise<unknown>> = {
    create: () => service.createSession({ ...USER, sessionId: 'new', state: { 'user:u': 2 } }),
    append: () => service.appendEvent({ session, event: says('two', { a: 2, 'user:u': 2, 'app:p': 2 }) }), // prettier-ignore
    read: () => service.getSession(KEY),
    list: () => service.listSessions(APP),
    delete: () => service.deleteSession(KEY),
  };
  /** Makes the storage sound again, and makes sure that nothing came of what failed. */
  async function isUnharmed(): Promise<void> {
    // Its own methods again.
    for (const verb of VERBS) Reflect.deleteProperty(storage, verb);
    const found = await stored(service);
    assert.deepEqual(texts(found), ['one']);
    assert.deepEqual(found.state, { a: 1, 'user:u': 1, 'app:p': 1 });
    assert.deepEqual([session.events, session.state], [found.events, found.state]);
    assert.equal((await service.listSessions(APP)).totalItems, 1);
    await service.appendEvent({ session, event: says('after') });
    assert.deepEqual(texts(await stored(service)), ['one', 'after']);
  }
  return { storage, service, session, calls, isUnharmed };
}

describe('A storage with outdated reads', () => {
  it('makes getOrCreateSession fail with an error that says so', async () => {
    const { service, storage } = await faulty(() => undefined);
    storage.read = () => ({ user: undefined, app: undefined, events: [] });
    const message = /reads must see what was written/;
    await assert.rejects(service.getOrCreateSession(KEY), { code: 'storage_failed', message });
  });
});

describe('A storage that fails', () => {
  const rejections: [string, unknown][] = [
    ['an Error', new Error('disk on fire')],
    ['a string', 'disk on fire'],
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a symbol', Symbol('x')],
    ['an object', { reason: 'x' }],
    ["an object with the database's code", { code: 'ER_DUP_ENTRY', message: 'disk on fire' }],
    ['an object with a numeric code', { code: 1062 }],
    ["an object with one of the package's codes", { code: 'not_found', message: 'disk on fire' }],
    ['an object without prototype', Object.create(null)],
  ];
  for (const verb of VERBS) {
    for (const how of ['rejects with', 'throws'] as const) {
      for (const [what, cause] of rejections) {
        it(`whose ${verb} ${how} ${what} gives \`storage_failed\` with that as its cause`, async () => {
          const { calls, isUnharmed } = await faulty((storage) => {
            storage[verb] = (): Promise<never> => {
              if (how === 'throws') throw cause;
              // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is the point
              return Promise.reject(cause);
            };
          });
          const error = await failure(calls[verb](), 'storage_failed');
          assert.equal(error.cause, cause);
          assert.match(error.message, new RegExp(verb));
          if (cause instanceof Error || typeof cause === 'string')
            assert.match(error.message, /disk on fire/);
          await isUnharmed();
        });
      }
    }

    it(`whose ${verb} throws a SessionError passes that error on`, async () => {
      const cause = new SessionError('quota_exceeded', 'The disk is full.');
      const { calls, isUnharmed } = await faulty((storage) => {
        storage[verb] = (): Promise<never> => Promise.reject(cause);
      });
      assert.equal(await failure(calls[verb](), 'quota_exceeded'), cause);
      await isUnharmed();
    });
  }

  it('does not show the password of its database', async () => {
    const { calls } = await faulty((storage) => {
      storage.read = () => Promise.reject(new Error('no route to postgres://me:hunter2@db/x'));
    });
    const error = await failure(calls.read(), 'storage_failed');
    assert.doesNotMatch(error.message, /hunter2/);
    assert.doesNotMatch(JSON.stringify(error), /hunter2/);
  });
});

/** Every way to be no whole number from 0 up. */
const NO_COUNT = [undefined, null, '1', -1, 1.5, Number.NaN, Infinity, 2 ** 53, 1n, {}, true];
const NO_TIME = [undefined, null, '1', -1, Number.NaN, Infinity, 1n, {}, new Date(0)];
const NO_TEXT = [undefined, null, 5, {}, ['{}'], new String('{}')];
const NO_LIST = [undefined, null, 5, {}, 'abc', new Set()];
const NO_OBJECT = [5, 'row', true, Symbol('x')];

/** Field → what it must not be. */
const ROWS = {
  session: { created: NO_COUNT, revision: NO_COUNT, lastUpdateTime: NO_TIME, state: NO_TEXT },
  user: { revision: NO_COUNT, state: NO_TEXT },
  app: { revision: NO_COUNT, state: NO_TEXT },
} as const;
const EVENT = { id: NO_TEXT, seq: NO_COUNT, revision: NO_COUNT, timestamp: NO_TIME, text: NO_TEXT };

type Result = Record<string, unknown>;
/** A fault of a result, the field that the error must name, and the function that makes the fault. */
type Malformation = [what: string, field: string, spoil: (result: Result) => void];

function* wrongRow(
  name: string,
  fields: Record<string, readonly unknown[]>,
  get: (result: Result) => Result | undefined,
  put: (result: Result, row: unknown) => void,
): Generator<Malformation> {
  const path = ['session', 'user', 'app'].includes(name) ? name : `${name}[0]`;
  for (const value of NO_OBJECT) {
    yield [
      `${name} ${show(value)}`,
      `${path} that is not an object`,
      (result) => put(result, value),
    ];
  }
  for (const [field, values] of Object.entries(fields)) {
    for (const value of values) {
      yield [
        `${name}.${field} ${show(value)}`,
        `${path}.${field} that`,
        (result) => put(result, { ...get(result), [field]: value }),
      ];
    }
  }
}

function* wrongRows(): Generator<Malformation> {
  for (const [name, fields] of Object.entries(ROWS)) {
    const get = (result: Result): Result => result[name] as Result;
    yield* wrongRow(name, fields, get, (result, row) => (result[name] = row));
  }
}

function* wrongEvents(name: string): Generator<Malformation> {
  for (const value of NO_LIST) {
    yield [`${name} ${show(value)}`, name, (result) => (result[name] = value)];
  }
  const get = (result: Result): Result => (result[name] as Result[])[0] ?? { id: 'x', seq: 1, revision: 1, timestamp: 1, text: '{}' }; // prettier-ignore
  yield* wrongRow(name, EVENT, get, (result, row) => (result[name] = [row]));
}

const FOUND: Malformation[] = [
  ...NO_COUNT.map((value): Malformation => [`floor ${show(value)}`, 'floor', (result) => (result.floor = value)]), // prettier-ignore
  ...wrongRows(),
  ...wrongEvents('events'),
  ...wrongEvents('changed'),
];

const READ: Malformation[] = [...wrongRows(), ...wrongEvents('events')];

const LIST: Malformation[] = [
  ...NO_COUNT.map((value): Malformation => [`total ${show(value)}`, 'total', (result) => (result.total = value)]), // prettier-ignore
  ...['sessions', 'users'].flatMap(
    (name) =>
    NO_LIST.map((value): Malformation => [`${name} ${show(value)}`, name, (result) => (result[name] = value)]), // prettier-ignore
  ),
  ...wrongRow('sessions', { ...ROWS.session, sessionId: NO_TEXT, userId: NO_TEXT }, (result) => (result.sessions as Result[])[0], (result, row) => (result.sessions = [row])), // prettier-ignore
  ...[undefined, null, 5].map((value): Malformation => [`session ${show(value)}`, 'sessions[0] that is not an object', (result) => (result.sessions = [value])]), // prettier-ignore
  ...wrongRow('users', { ...ROWS.user, userId: NO_TEXT }, (result) => (result.users as Result[])[0], (result, row) => (result.users = [row])), // prettier-ignore
  ...wrongRow('app', ROWS.app, (result) => result.app as Result, (result, row) => (result.app = row)), // prettier-ignore
];

describe('A storage with malformed results', () => {
  for (const verb of ['append', 'create'] as const) {
    for (const [what, field, spoil] of FOUND) {
      it(`for a decision (${verb}, ${what}) is reported, and nothing is written`, async () => {
        const { calls, isUnharmed } = await faulty((storage) => {
          storage[verb] = async (request: StorageWriteRequest, decide: Decide) => {
            await Promise.resolve();
            const asked = { ...request, key: KEY };
            const found = { ...storage.find(asked) } as unknown as Result;
            spoil(found);
            decide(found as unknown as Found);
          };
        });
        const error = await failure(calls[verb](), 'storage_failed');
        assert.ok(error.message.includes(field), error.message);
        await isUnharmed();
      });
    }
  }

  for (const [what, field, spoil] of READ) {
    it(`for a read (${what}) is reported`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage.read = (request) => {
          const rows = { ...storage.rows(request) } as unknown as Result;
          spoil(rows);
          return rows as never;
        };
      });
      const error = await failure(calls.read(), 'storage_failed');
      assert.ok(error.message.includes(field), error.message);
      await isUnharmed();
    });
  }

  for (const [what, field, spoil] of LIST) {
    it(`for a list (${what}) is reported`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage.list = (request) => {
          const page = { ...storage.page(request) } as unknown as Result;
          spoil(page);
          return page as never;
        };
      });
      const error = await failure(calls.list(), 'storage_failed');
      assert.ok(error.message.includes(field), error.message);
      await isUnharmed();
    });
  }

  for (const verb of ['read', 'list'] as const) {
    for (const result of [undefined, null, 5, 'rows', Symbol('x')]) {
      it(`that returns ${String(result)} from ${verb} is reported`, async () => {
        const { calls, isUnharmed } = await faulty((storage) => {
          storage[verb] = () => result as never;
        });
        await failure(calls[verb](), 'storage_failed');
        await isUnharmed();
      });
    }
  }

  for (const found of [undefined, null, 5, 'found']) {
    it(`that passes ${String(found)} to a decision is reported`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage.append = (_, decide) => void decide(found as never);
      });
      const error = await failure(calls.append(), 'storage_failed');
      assert.match(error.message, /append called decide with .+ in place of the rows/);
      await isUnharmed();
    });
  }

  it('is reported with the row, the field and its value', async () => {
    const { calls } = await faulty((storage) => {
      storage.append = (request, decide) => {
        const found = storage.find(request);
        decide({ ...found, session: { ...found.session, revision: '3' } as never });
      };
    });
    const { message } = await failure(calls.append(), 'storage_failed');
    assert.match(
      message,
      /gave session\.revision that is the string "3", not a whole number from 0 up/,
    );
  });

  it('may return null for absent members', async () => {
    const { service } = await faulty((storage) => {
      storage.read = (request) => ({ ...storage.rows(request), user: null as never, app: null as never }); // prettier-ignore
    });
    assert.deepEqual((await stored(service)).state, { a: 1 });
  });

  for (const verb of ['create', 'append', 'delete'] as const) {
    it(`may return anything from ${verb}, which has no result`, async () => {
      const { service, calls } = await faulty((storage) => {
        const original = storage[verb].bind(storage) as (...given: unknown[]) => unknown;
        storage[verb] = async (...given: unknown[]) => {
          await original(...given);
          return 'any value' as never;
        };
      });
      await calls[verb]();
      assert.equal((await service.listSessions(APP)).totalItems, { create: 2, append: 1, delete: 0 }[verb]); // prettier-ignore
    });
  }
});

describe('The decision', () => {
  for (const verb of ['create', 'append'] as const) {
    it(`that a storage never calls is reported (${verb})`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => (storage[verb] = () => undefined));
      const error = await failure(calls[verb](), 'storage_failed');
      assert.match(error.message, /decide/);
      await isUnharmed();
    });

    it(`that a storage calls after its verb has ended is refused (${verb})`, async () => {
      let late: unknown;
      const calledLate = new Promise<void>((resolve) => {
        void faulty((storage) => {
          storage[verb] = (request, decide) => {
            setTimeout(() => {
              try {
                decide(storage.find(request));
              } catch (error) {
                late = error;
              }
              resolve();
            }, 5);
          };
        }).then(async ({ calls, isUnharmed }) => {
          await failure(calls[verb](), 'storage_failed');
          await calledLate;
          await isUnharmed();
        });
      });
      await calledLate;
      assert.ok(late instanceof SessionError);
      assert.equal(late.code, 'storage_failed');
      assert.match(late.message, /decide/);
    });

    it(`may be called again, and the last result counts (${verb})`, async () => {
      const { service, session, calls } = await faulty((storage) => {
        storage[verb] = (request, decide) => {
          const found = storage.find(request);
          decide({ ...found, floor: found.floor + 10 });
          decide({ ...found, session: undefined, user: undefined, app: undefined });
          storage.write(request, decide);
        };
      });
      await calls[verb]();
      if (verb === 'create') {
        assert.equal((await service.listSessions(APP)).totalItems, 2);
        return;
      }
      assert.deepEqual(texts(session), ['one', 'two']);
      assert.deepEqual((await stored(service)).state, { a: 2, 'user:u': 2, 'app:p': 2 });
    });

    it(`that threw still fails the call if the storage swallows errors (${verb})`, async () => {
      const { calls, isUnharmed } = await faulty((storage) => {
        storage[verb] = (_, decide) => {
          try {
            decide(5 as never);
          } catch {
            // A storage must not do this.
          }
        };
      });
      await failure(calls[verb](), 'storage_failed');
      await isUnharmed();
    });
  }

  it('that threw still fails updateState too', async () => {
    const { service, isUnharmed } = await faulty((storage) => {
      storage.append = (_, decide) => {
        try {
          decide(5 as never);
        } catch {
          // A storage must not do this.
        }
      };
    });
    const update = service.updateState({ ...USER, stateDelta: { 'user:u': 5 } });
    await failure(update, 'storage_failed');
    await isUnharmed();
  });

  it('that refuses keeps its error code through the storage', async () => {
    const { service } = await faulty(() => undefined);
    await failure(service.createSession(KEY), 'already_exists');
    await service.deleteSession(KEY);
    await failure(service.updateState({ ...KEY, stateDelta: { a: 1 } }), 'not_found');
  });

  it('returns everything to write, and shares no object', async () => {
    const { session, calls } = await faulty((storage) => {
      storage.append = (request, decide) => {
        assert.deepEqual(request.key, KEY);
        assert.deepEqual([...request.scopes].sort(), ['app', 'session', 'user']);
        assert.equal(request.eventIds.length, 1);
        const changes = decide(storage.find(request));
        assert.ok(changes?.session);
        const { appName, userId, sessionId, created, revision, state } = changes.session;
        assert.deepEqual({ appName, userId, sessionId }, KEY);
        assert.ok(revision > created);
        assert.equal(state, '{"a":2}');
        assert.equal(changes.user?.state, '{"u":2}');
        assert.equal(changes.app?.state, '{"p":2}');
        const [event] = changes.events;
        assert.deepEqual([event?.id, event?.seq, event?.revision], [request.eventIds[0], revision, revision]); // prettier-ignore
        assert.equal((JSON.parse(event!.text) as { id: string }).id, event?.id);
        storage.write(request, () => changes);
      };
    });
    await calls.append();
    assert.deepEqual(session.state, { a: 2, 'user:u': 2, 'app:p': 2 });
  });
});

describe('A storage with a wrong floor', () => {
  it('that is too low still keeps sessions apart', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('old') });
    await service.deleteSession(KEY);
    storage.floor = 0;
    const next = await service.createSession(KEY);
    assert.deepEqual(next.events, []);
    await service.appendEvent({ session: next, event: says('new') });
    assert.deepEqual(texts(await stored(service)), ['new']);
  });

  it('that is too high is refused before a revision exceeds the safe integers', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    storage.floor = Number.MAX_SAFE_INTEGER;
    const event = says('x', { 'user:u': 1 });
    await failure(service.appendEvent({ session, event }), 'storage_failed');
    await failure(service.createSession({ ...USER, sessionId: 'new' }), 'storage_failed');
    storage.floor = 0;
    await service.appendEvent({ session, event });
    assert.deepEqual(texts(await stored(service)), ['x']);
    assert.equal((await service.listSessions(APP)).totalItems, 1);
  });
});

describe('openSessionService', () => {
  it('reports the kind of storage', async () => {
    const memory = await openSessionService({ storage: 'memory' });
    assert.ok(memory instanceof InMemorySessionService);
    assert.deepEqual(memory.storage, { kind: 'memory', durable: false });
    assert.deepEqual(new InMemorySessionService().storage, { kind: 'memory', durable: false });
    const own = await openOver(new MapStorage());
    assert.deepEqual(own.storage, { kind: 'map', durable: false });
    const nameless = Object.assign(new MapStorage(), { kind: undefined, durable: undefined });
    const custom = await openSessionService({ storage: nameless });
    assert.deepEqual(custom.storage, { kind: 'custom', durable: true });
  });

  it('names the missing verbs of an adapter', async () => {
    const storage: object = Object.assign(new MapStorage(), { list: undefined, delete: 5 });
    const opening = openSessionService({ storage: storage as StorageAdapter });
    const error = await failure(opening, 'invalid_argument');
    assert.match(error.message, /list, delete/);
  });

  for (const options of [
    undefined,
    null,
    5,
    {},
    { storage: undefined },
    { storage: null },
    { storage: 'memroy' },
    { storage: 5 },
    { storage: () => 1 },
    { storage: {} },
    { storage: 'toString' },
  ]) {
    // prettier-ignore
    it(`refuses ${JSON.stringify(options)}`, async () => {
      const error = await failure(openSessionService(options as never), 'invalid_argument');
      assert.match(error.message, /storage|request|options/);
    });
  }

  it('accepts an adapter with synchronous verbs', async () => {
    const storage = new MapStorage();
    const plain: StorageAdapter = {
      create: (request, decide) => storage.write(request, decide),
      append: (request, decide) => storage.write(request, decide),
      read: (request) => storage.rows(request),
      list: (request) => storage.page(request),
      delete: (request) => storage.remove(request),
    };
    const service = await openSessionService({ storage: plain });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    assert.deepEqual(await stored(service), session);
    await service.close();
  });

  it('waits for a verb that returns a thenable', async () => {
    const storage = new MapStorage();
    const append: StorageAdapter['append'] = (request, decide) => {
      const later = {
        then(succeed: () => void): void {
          setTimeout(() => {
            storage.write(request, decide);
            succeed();
          });
        },
      };
      return later as Promise<void>;
    };
    const service = await openSessionService({ storage: Object.assign(storage, { append }) });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    assert.deepEqual(await stored(service), session);
    assert.deepEqual(session.state, { a: 1 });
  });

  it('lets two services over one storage share its data', async () => {
    const storage = new MapStorage();
    const [one, other] = [await openOver(storage), await openOver(storage)];
    const session = await one.createSession(KEY);
    const late = await stored(other);
    await one.appendEvent({ session, event: says('one', { a: 1 }) });
    await other.appendEvent({ session: late, event: says('two') });
    assert.deepEqual(texts(late), ['one', 'two']);
    assert.deepEqual(await stored(one), late);
  });
});
