import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { APP, seed, serve, SESSION, USER } from '../fixture.js';

describe('States of users and apps over HTTP', () => {
  it('they are read without prefixes, changed with prefixes, and deleted', async () => {
    const { ask } = serve();
    for (const [path, stateDelta, state] of [
      [`${USER}/state`, { 'user:name': 'Ada' }, { name: 'Ada' }],
      [`/apps/${APP}/state`, { 'app:motd': 'hello' }, { motd: 'hello' }],
    ] as const) {
      assert.equal((await ask(path, { method: 'PATCH', body: { stateDelta } })).status, 200);
      assert.deepEqual((await ask(path)).body, state);
      assert.equal((await ask(path, { method: 'DELETE' })).status, 200);
      assert.deepEqual((await ask(path)).body, {});
    }
  });

  it('a user is deleted with all sessions', async () => {
    const { ask, service } = serve();
    await seed(service);
    assert.equal((await ask(USER, { method: 'DELETE' })).status, 200);
    assert.equal((await ask(SESSION)).status, 404);
  });
});
