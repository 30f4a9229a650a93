import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { StateShape } from '../../../../js/index.js';
import { overStorages, USER } from '../fixture.js';

/** The shared states that are there before the session. */
const STORED: StateShape[] = [
  {},
  { 'user:a': 1 },
  { 'app:m': 1, 'app:n': 2 },
  { 'user:a': 1, 'user:b': 2, 'app:m': 3 },
];

/** The initial states of sessions. */
const GIVEN: StateShape[] = [
  {},
  { own: 1 },
  { own: 1, 'user:a': 2, 'app:m': 3 },
  { own: 1, 'user:a': 2 },
  { 'user:b': 2, 'user:a': 1 },
  { 'user:a': 1, 'user:c': [2], 'app:m': { deep: '"' } },
  { 'app:m': 1, own: 2, 'user:a': 3 },
  { own: 1, 'app:n': 2 },
  { own: 1, 'temp:t': 2, 'user:a': undefined, 'app:n': 3 },
];

overStorages('A session that is created', (open) => {
  it('has the keys and values that a read returns, in the same order', async () => {
    for (const stored of STORED) {
      for (const state of GIVEN) {
        const service = await open();
        await service.createSession({ ...USER, state: stored });
        const created = await service.createSession({ ...USER, sessionId: 'new', state });
        const read = await service.getSession({ ...USER, sessionId: 'new' });
        const what = JSON.stringify([stored, state]);
        assert.equal(JSON.stringify(created.state), JSON.stringify(read?.state), what);
        await service.close();
      }
    }
  });
});
