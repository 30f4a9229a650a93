// What is given in place of a service.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isSessionError } from '../../../../js/index.js';
import { liveSession, liveSessions } from '../../../../js/ui/live/index.js';
import { providedSession } from '../../../../js/ui/live/components/provided.js';
import { KEY, message } from './stores.js';

const isRefusal = (error: unknown): boolean =>
  isSessionError(error, 'invalid_argument') && error.key === 'service';

it('A live store refuses a value that is no service at once', () => {
  for (const given of [undefined, null, 5, 'memory', {}]) {
    const service = given as never;
    assert.throws(() => liveSession(service, KEY), isRefusal);
    assert.throws(() => liveSessions(service, { appName: 'shop' }), isRefusal);
    const provided = { service, appName: 'shop', userId: 'ada' };
    assert.throws(() => providedSession(provided, { sessionId: 's1' }), isRefusal);
  }
});

it('A live store refuses the promise of a value that is no service', async () => {
  for (const given of [undefined, null, {}]) {
    const store = liveSession(Promise.resolve(given) as never, KEY);
    await store.load();
    const { status, error } = store.getSnapshot();
    assert.equal(status, 'failed');
    assert.ok(isRefusal(error), String(error));
    await assert.rejects(store.send(message('e1')), isRefusal);
    await assert.rejects(store.loadOlder(), isRefusal);
    const list = liveSessions(Promise.resolve(given) as never, { appName: 'shop' });
    await list.load();
    assert.ok(isRefusal(list.getSnapshot().error));
  }
});
