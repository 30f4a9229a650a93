import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEvent } from '../../../../js/values/model/event/create_event.js';
import { snapshotEvent } from '../../../../js/values/model/event/snapshot.js';
import {
  packAppends,
  packCreation,
  type PackedCreated,
  packRead,
} from '../../../../js/core/storage/wasm/packed.js';
import { createMemoryStorage } from '../../../../js/core/wasm/all.js';
import { CreatedNumber } from '../../../../js/core/wasm/core.js';
import { loadWasm } from '../../../../js/core/wasm/loading.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const position = { kind: 'latest' } as const;
const event = snapshotEvent(
  createEvent({ actions: { stateDelta: { a: 1 } } }),
  () => 1,
  () => 'e1',
);
const session = {
  key,
  state: '{}',
  events: [],
  delta: '{}',
  description: {},
  lastUpdateTime: undefined,
  now: 1,
  sharesState: true,
};

describe('The memory of the wasm', () => {
  it('answers each verb in the same tick, and makes no promise', async () => {
    await loadWasm();
    const core = createMemoryStorage();
    const created = packCreation({ ...session, ifAbsent: false }, true);
    const write = { kind: 'append', key, position, stale: 'merge', events: [event] } as const;
    const append = packAppends([write], true, true);
    const read = packRead(key);
    const compute = () => '{"app:n":1}';
    const list = { appName: 'shop', offset: 0, limit: undefined };
    const results: Record<string, unknown> = {
      create: core.create(created.packed, created.numbers, undefined),
      append: core.append(append.packed, append.numbers, undefined),
      describe: core.describe({ key, title: 'Title' }),
      get: core.get(read.names, read.numbers),
      page: core.page({ key, direction: 'before', eventId: undefined, limit: 1, withCount: true }),
      list: core.list({ ...list, order: 'asc', orderBy: 'lastUpdateTime', withTotal: true }),
      update: core.update('shop', undefined, '{}', undefined, compute),
      sharedState: core.shared_state('shop'),
      deleteUnchanged: core.delete({ what: 'session', key, revision: 99 }),
      deleteSession: core.delete({ what: 'session', key }),
      deleteUser: core.delete({ what: 'user', key: { appName: 'shop', userId: 'ada' } }),
      deleteAppState: core.delete({ what: 'appState', key: { appName: 'shop' } }),
      open: core.open(),
    };
    for (const [verb, result] of Object.entries(results)) {
      assert.ok(!(result instanceof Promise), `${verb} returned a promise`);
    }
    const { deleteUnchanged, open, ...rest } = results;
    assert.deepEqual([deleteUnchanged, open], [undefined, undefined]);
    for (const [verb, result] of Object.entries(rest)) assert.notEqual(result, undefined, verb);
    assert.equal(results.sharedState, '{"n":1}');
    core.free();
  });

  it('does not send back the state of a new session, but what is stored beside it', async () => {
    await loadWasm();
    const core = createMemoryStorage();
    const create = (sessionId: string, state: string): unknown => {
      const own = { ...session, key: { ...key, sessionId }, state, ifAbsent: false };
      const { packed, numbers } = packCreation(own, true);
      return (core.create(packed, numbers, undefined) as PackedCreated)[CreatedNumber.State];
    };
    assert.equal(create('s1', '{"a":1,"user:b":2,"app:c":3}'), undefined);
    assert.equal(create('s2', '{"user:b":4,"user:d":5,"app:c":6}'), undefined);
    assert.equal(create('s3', '{"a":1,"user:b":7}'), '{"user:d":5,"app:c":6}');
    assert.equal(create('s4', '{"user:d":8}'), '{"user:b":7,"user:d":8,"app:c":6}');
    core.free();
  });
});
