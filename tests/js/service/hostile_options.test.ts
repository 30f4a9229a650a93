import assert from 'node:assert/strict';
import { it } from 'node:test';

import * as adk from '../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { wholeStorage } from './whole_storage.js';
import {
  IndexedDbSessionService,
  InMemorySessionService,
  isSessionError,
  openSessionService,
} from '../../../js/index.js';
import { openCache, Server } from '../stores/cache/fixture.js';
import { openRemote } from '../stores/remote/fixture.js';
import { failure, KEY, says, show, stored, USER } from './fixture.js';

for (const [what, clock] of [
  ['a bigint', () => 1n],
  ['a string', () => '2020'],
  ['nothing', () => undefined],
  ['a symbol', () => Symbol('now')],
] as const) {
  it(`A clock that returns ${what} loses no data`, async () => {
    const sound = new InMemorySessionService();
    await sound.createSession(KEY);
    const service = new InMemorySessionService({ clock: clock as never });
    await failure(service.createSession(KEY), 'invalid_argument');
    assert.equal((await stored(sound)).id, 'session');
    assert.equal(await service.getSession(KEY), undefined);
  });
}

for (const [what, newId] of [
  ['a number', () => 5],
  ['nothing', () => undefined],
  ['an empty text', () => ''],
  ['a symbol', () => Symbol('id')],
  ['a lone surrogate', () => '\ud800'],
] as const) {
  it(`A newId that returns ${what} is reported, and loses no data`, async () => {
    const sound = new InMemorySessionService();
    await sound.createSession(KEY);
    const service = new InMemorySessionService({ newId: newId as never });
    await failure(service.createSession(USER), 'invalid_argument');
    const session = await service.createSession(KEY);
    const event = { ...says('x'), id: '' };
    await failure(service.appendEvent({ session, event }), 'invalid_argument');
    assert.equal((await service.listSessions(USER)).totalItems, 1);
    assert.equal((await stored(sound)).id, 'session');
  });
}

for (const option of ['clock', 'newId'] as const) {
  it(`A ${option} that throws anything causes an error with a code`, async () => {
    const service = new InMemorySessionService({
      [option]: () => {
        throw 'no time';
      },
    });
    await failure(service.createSession(USER), 'invalid_argument');
    assert.equal((await service.listSessions(USER)).totalItems, 0);
  });
}

const anything = { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: 1 }) } };

/** What a wrong option is given to. */
const TAKERS: Record<string, (options: object) => unknown> = {
  InMemorySessionService: (options) => new InMemorySessionService(options),
  'openSessionService of a storage': (options) =>
    openSessionService({ ...options, storage: wholeStorage() }),
  DatabaseSessionService: (options) => new DatabaseSessionService('sqlite::memory:', options),
  RemoteSessionService: (options) => openRemote(options),
  CachedSessionService: (options) => openCache(new Server(), options),
  "the framework's InMemorySessionService": (options) => new adk.InMemorySessionService(options),
};

for (const [name, make] of Object.entries(TAKERS)) {
  it(`A clock, newId or stateSchema of another type is refused by ${name}`, async () => {
    const wrong = ['x', 5, 5n, null, true];
    const refuses = (options: object, key: string): Promise<void> =>
      assert.rejects(
        async () => await make(options),
        (error) => isSessionError(error, 'invalid_argument') && error.key === key,
        show(options),
      );
    for (const value of [...wrong, {}]) {
      await refuses({ clock: value }, 'clock');
      await refuses({ newId: value }, 'newId');
      await refuses({ stateSchema: { a: anything, topic: value } }, 'topic');
    }
    for (const value of [...wrong, [], () => 1]) {
      await refuses({ stateSchema: value }, 'stateSchema');
    }
    await make({ stateSchema: { a: anything }, clock: () => 1, newId: () => 'a' });
  });
}

it('A getter that throws causes an error with a code, also in options and synchronous methods', async () => {
  const service = new InMemorySessionService();
  const hostile = Object.defineProperty({}, 'signal', {
    enumerable: true,
    get: () => {
      throw new Error('a getter');
    },
  }) as never;
  const calls: Record<string, () => unknown> = {
    constructor: () => new InMemorySessionService(hostile),
    'constructor over IndexedDB': () => new IndexedDbSessionService(hostile),
    openSessionService: () => openSessionService(hostile),
    deleteDatabase: () => IndexedDbSessionService.deleteDatabase('x', hostile),
    getSessionSync: () => service.getSessionSync(hostile),
    createSessionSync: () => service.createSessionSync(hostile),
    ping: () => service.ping(hostile),
    watch: () => service.watch(hostile),
    'options of watch': () => service.watch({ appName: 'app' }, hostile),
    'options of deleteSessions': () => service.deleteSessions({ appName: 'app' }, hostile),
    events: () => service.events(hostile).next(),
    sessions: () => service.sessions(hostile).next(),
    close: () => service.close(hostile),
  };
  for (const [what, call] of Object.entries(calls)) {
    const { message } = await failure((async () => call())(), 'invalid_argument');
    assert.match(message, /a getter/, what);
  }
});

it('A walk that cannot begin fails at its first step', async () => {
  const service = new InMemorySessionService();
  const signal = AbortSignal.abort();
  const wrong = [service.events(null as never), service.sessions([] as never)];
  const aborted = [
    service.events({ ...KEY, signal }),
    service.sessions({ appName: 'app', signal }),
  ];
  await service.close();
  const closed = [service.events(KEY), service.sessions({ appName: 'app' })];
  for (const walk of wrong) await failure(walk.next(), 'invalid_argument');
  for (const walk of aborted) await failure(walk.next(), 'aborted');
  for (const walk of closed) await failure(walk.next(), 'closed');
});
