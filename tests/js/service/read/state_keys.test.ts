import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import type { ListSessionsRequest, StateShape, SessionService } from '../../../../js/index.js';
import { APP, failure, KEY, type Open, overStorages, says, stored, USER } from '../fixture.js';

const STATE = {
  topic: 'tea',
  cart: ['milk'],
  'user:name': 'Ada',
  'user:age': 7,
  'app:motd': 'Sale',
};

async function listed(service: SessionService, stateKeys?: string[]): Promise<StateShape> {
  const { sessions } = await service.listSessions({ ...APP, stateKeys });
  const { sessions: synonym } = await service.listSessions({
    ...USER,
    stateKeys,
    withTotal: false,
  });
  assert.deepEqual(synonym, sessions);
  return sessions[0]!.state;
}

function tests(open: Open): void {
  it('returns the named keys of every scope', async () => {
    const service = await open();
    await service.createSession({ ...KEY, state: STATE });
    assert.deepEqual(await listed(service), STATE);
    assert.deepEqual(await listed(service, Object.keys(STATE)), STATE);
    assert.deepEqual(await listed(service, ['topic', 'user:name']), {
      topic: 'tea',
      'user:name': 'Ada',
    });
    assert.deepEqual(await listed(service, ['app:motd', 'none']), { 'app:motd': 'Sale' });
    assert.deepEqual(await listed(service, ['name', 'motd', 'toString']), {});
    assert.deepEqual(await listed(service, []), {});
    await service.close();
  });

  it('returns handles that can be appended through', async () => {
    const service = await open();
    await service.createSession({ ...KEY, state: STATE });
    const { sessions } = await service.listSessions({ ...APP, stateKeys: ['topic'] });
    await service.appendEvent({ session: sessions[0]!, event: says('1', { cart: [] }) });
    assert.deepEqual(sessions[0]!.state, { topic: 'tea', cart: [] });
    assert.deepEqual((await stored(service)).state, { ...STATE, cart: [] });
    await service.close();
  });

  it('refuses anything else but an array of strings', async () => {
    const service = await open();
    for (const stateKeys of ['topic', 5, null, {}, [5], new Set(['topic'])]) {
      const request = { ...APP, stateKeys } as unknown as ListSessionsRequest;
      assert.equal(
        (await failure(service.listSessions(request), 'invalid_argument')).key,
        'stateKeys',
      );
    }
    await service.close();
  });
}

overStorages('A list with stateKeys', tests);
describe('A list with stateKeys, in SQLite', () => {
  tests(async (options) => new DatabaseSessionService('sqlite::memory:', options));
});
