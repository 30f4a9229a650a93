import assert from 'node:assert/strict';
import { it } from 'node:test';

import { z } from 'zod';

import { StateSchemaError } from '../../../js/index.js';
import { ServiceCore } from '../../../js/service/service_core.js';
import type { SessionServiceOptions } from '../../../js/service/service_options.js';
import { Feed } from '../../../js/core/watch/feed.js';
import { begin, failure, KEY, overStorages, says, stored, texts, USER } from './fixture.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const stateSchema = {
  topic: z.string().default('none'),
  'user:visits': z.number().int(),
  trimmed: z.string().trim(),
};

overStorages('The option `stateSchema`', (open) => {
  it('refuses an invalid value or key in an initial state, and stores nothing', async () => {
    const service = await open({ stateSchema });
    for (const [state, key] of [
      [{ topic: 5 }, 'topic'],
      [{ undeclared: 1 }, 'undeclared'],
      [{ topic: 'tea', 'user:visits': 1.5 }, 'user:visits'],
      [JSON.parse('{"__proto__":1}') as object, '__proto__'],
      [{ toString: 1 }, 'toString'],
    ] as const) {
      for (const create of ['createSession', 'getOrCreateSession'] as const) {
        const error = await failure(service[create]({ ...KEY, state }), 'schema_violation');
        assert.ok(error instanceof StateSchemaError);
        assert.equal(error.name, 'StateSchemaError');
        assert.equal(error.key, key);
        assert.ok(error.message.includes(key));
      }
    }
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(USER), {});
  });

  it('refuses an invalid delta of an event, and changes nothing', async () => {
    const { service, session } = await begin(open, { topic: 'tea' }, { stateSchema });
    const event = says('x', { topic: 5, 'temp:t': 1 });
    const before = structuredClone([session, event]);
    await failure(service.appendEvent({ session, event }), 'schema_violation');
    await failure(service.appendEvents({ session, events: [says('ok'), event] }), 'schema_violation'); // prettier-ignore
    assert.deepEqual([session, event], before);
    assert.deepEqual((await stored(service)).events, []);
    event.actions.stateDelta = { topic: 'coffee' };
    await service.appendEvent({ session, event });
    assert.deepEqual((await stored(service)).state, { topic: 'coffee' });
  });

  it('refuses an invalid update, with and without a session', async () => {
    const { service } = await begin(open, {}, { stateSchema });
    const plain = service.updateState({ ...KEY, stateDelta: { topic: 5 } });
    await failure(plain, 'schema_violation');
    const user = service.updateState({ ...USER, stateDelta: { 'user:visits': '5' } });
    await failure(user, 'schema_violation');
    assert.deepEqual((await stored(service)).events, []);
    assert.deepEqual(await service.getUserState(USER), {});
  });

  it('accepts removals, temp: keys and undeclared keys with a prefix', async () => {
    const { service, session } = await begin(open, { topic: 'tea' }, { stateSchema });
    const delta = { topic: undefined, 'temp:x': () => 1, 'user:other': 1, 'app:y': [], 'my:z': 1 };
    await service.appendEvent({ session, event: says('x', delta) });
    assert.deepEqual((await stored(service)).state, { 'user:other': 1, 'app:y': [], 'my:z': 1 });
  });

  it("stores the given value, not the schema's output", async () => {
    const { service } = await begin(open, { trimmed: ' tea ' }, { stateSchema });
    assert.deepEqual((await stored(service)).state, { trimmed: ' tea ' });
  });

  it('refuses a validator that returns a promise', async () => {
    const asynchronous = { a: z.string().refine(() => Promise.resolve(true)) };
    const service = await open({ stateSchema: asynchronous });
    await failure(service.createSession({ ...KEY, state: { a: 'x' } }), 'invalid_argument');
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('checks the stored value, after toJSON', async () => {
    const service = await open({ stateSchema });
    const state = { topic: { toJSON: () => 'tea' } as never };
    assert.deepEqual((await service.createSession({ ...KEY, state })).state, { topic: 'tea' });
  });
});

overStorages('The option `clock`', (open) => {
  it('returns the times of sessions and events', async () => {
    let now = 1000;
    const { service, session } = await begin(open, {}, { clock: () => now });
    assert.equal(session.lastUpdateTime, 1000);
    now = 2000;
    const event = { ...says('one'), timestamp: undefined as never };
    await service.appendEvent({ session, event });
    assert.equal(event.timestamp, 2000);
    assert.equal(session.lastUpdateTime, 2000);
    now = 500;
    await service.appendEvent({ session, event: { ...says('two'), timestamp: 10 } });
    assert.equal(session.lastUpdateTime, 2000, 'it never goes back');
    assert.equal((await stored(service)).lastUpdateTime, 2000);
  });

  for (const time of [Number.NaN, -1, Infinity, 253402300800000]) {
    it(`that returns ${time} is reported, and nothing is written`, async () => {
      let now = 1000;
      const { service, session } = await begin(open, {}, { clock: () => now });
      now = time;
      const create = service.createSession({ ...USER, sessionId: 'new' });
      assert.match((await failure(create, 'invalid_argument')).message, /clock/);
      const event = { ...says('x'), timestamp: undefined as never };
      await failure(service.appendEvent({ session, event }), 'invalid_argument');
      await failure(service.updateState({ ...KEY, stateDelta: { a: 1 } }), 'invalid_argument');
      now = 1000;
      await service.appendEvent({ session, event: says('after') });
      assert.deepEqual(texts(await stored(service)), ['after']);
      assert.equal((await service.listSessions(USER)).totalItems, 1);
    });
  }
});

overStorages('The option `newId`', (open) => {
  it('makes the ids of sessions, by default a UUID v4', async () => {
    const service = await open({ newId: () => 'fresh' });
    assert.equal((await service.createSession(USER)).id, 'fresh');
    const plain = await open();
    for (const sessionId of [undefined, '', '  ', '\n\t']) {
      assert.match((await plain.createSession({ ...USER, sessionId })).id, UUID);
    }
  });

  it('that returns one id twice is reported', async () => {
    const service = await open({ newId: () => 'same' });
    await service.createSession(USER);
    await failure(service.createSession(USER), 'already_exists');
  });
});

it('Refused options leave the feed of the storage to others', () => {
  const feed = new Feed();
  let services = 0;
  feed.retain = () => void (services += 1);
  const storage = { kind: 'memory', durable: false };
  const refused: object[] = [{ stale: 'never' }, { clock: 5 }, { autoTitle: 'yes' }];
  for (const options of refused as SessionServiceOptions[]) {
    const openStore = () => assert.fail('it was opened');
    assert.throws(() => new ServiceCore({ storage, openStore, feed }, options), {
      code: 'invalid_argument',
    });
  }
  assert.equal(services, 0);
});
