import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, type StateShape } from '../../../../js/index.js';
import { Handles } from '../../../../js/core/handle/handle.js';
import { makeHandles } from '../../../../js/service/read/session_lists.js';
import { type ListedRecord, toListed } from '../../../../js/stores/indexed_db/listed_records.js';
import type { SharedStates } from '../../../../js/core/storage/store.js';

function record(changes: Partial<Record<keyof ListedRecord, unknown>> = {}): ListedRecord {
  const numbers = { number: 7, numberCopy: 7, created: 1, revision: 3, lastUpdateTime: 1000.5 };
  const names = { appName: 'app', userId: 'ada', sessionId: 'one' };
  return { ...names, ...numbers, state: '{"topic":"moss"}', ...changes } as ListedRecord;
}

function open(records: ListedRecord[], app = '{}', users: Record<string, string> = {}) {
  const shared: SharedStates = { app, users: new Map(Object.entries(users)) };
  return makeHandles<StateShape>(toListed(records), 'app', shared, new Handles());
}

describe('Records of a list', () => {
  it('become sessions without events', () => {
    const [id, appName, userId, lastUpdateTime] = ['one', 'app', 'ada', 1000.5];
    assert.deepEqual(open([record()]), [
      { id, appName, userId, state: { topic: 'moss' }, events: [], lastUpdateTime },
    ]);
  });

  it("show each user's state, and the app's state alone for a user without state", () => {
    const records = [record(), record({ userId: 'bob' }), record({ userId: 'cy' })];
    const users = { bob: '{"name":"Bob"}', ada: '{"x":1}' };
    const sessions = open(records, '{"theme":"dark"}', users);
    const both = { topic: 'moss', 'app:theme': 'dark' };
    assert.deepEqual(
      sessions.map(({ state }) => state),
      [{ ...both, 'user:x': 1 }, { ...both, 'user:name': 'Bob' }, both],
    );
  });

  it('share no value among their sessions', () => {
    const [one, two] = open([record(), record()], '{"list":[]}');
    assert.notEqual(one!.state['app:list'], two!.state['app:list']);
  });

  it('keep a key such as `__proto__`', () => {
    const state = '{"__proto__":{"a":1}}';
    const [session] = open([record({ state })], '{"__proto__":2}');
    assert.equal(JSON.stringify(session!.state), '{"__proto__":{"a":1},"app:__proto__":2}');
  });

  for (const [what, changes] of Object.entries({
    'a number is missing': { number: undefined },
    'the creation is no number': { created: '1' },
    'the revision is missing': { revision: undefined },
    'the time is missing': { lastUpdateTime: undefined },
    'the copy of the number is another': { numberCopy: 8 },
    'the creation is later than the revision': { created: 4 },
    'the state is missing': { state: undefined },
    'the state is cut off': { state: '{"topic":' },
    'the state is a list': { state: '[]' },
    'the state is null': { state: 'null' },
  })) {
    it(`are reported by name if ${what}`, () => {
      assert.throws(
        () => open([record({ sessionId: 'well' }), record(changes)]),
        (error) =>
          isSessionError(error, 'corrupt_record') &&
          error.record === 'session "one" of user "ada" in app "app"' &&
          error.message.includes(error.record),
      );
    });
  }
});
