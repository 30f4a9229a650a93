import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../js/index.js';
import { APP, failure, KEY, openOver, says, stored, texts, USER } from '../fixture.js';
import { MapStorage } from '../map_storage.js';
import { faulty, VERBS } from './faulty_storage.js';

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
