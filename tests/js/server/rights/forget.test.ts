// The order to forget, from the handler through the remote client to the cache.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, isSessionError } from '../../../../js/index.js';
import { CachedSessionService } from '../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import type { Permission } from '../../../../js/server/index.js';
import { until } from '../../stores/cache/fixture.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { KEY } from '../fixture.js';

/** A call that is under way when the data are forgotten ends so. */
function requireAborted(error: unknown): 'aborted' {
  assert.ok(isSessionError(error, 'aborted'), String(error));
  return 'aborted';
}

it('a handler whose authorize returns forget forgets the cache of its client', async () => {
  let permission: Permission = true;
  const service = new InMemorySessionService();
  const handler = handlerOn(service, { authorize: () => permission });
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch: fetchFrom(handler) });
  const cache = new CachedSessionService({ owner: 'ada', remote, local: 'memory' });
  await cache.createSession(KEY);
  await cache.sync();
  await cache.createSession({ ...KEY, sessionId: 's2' });
  permission = 'forget';
  // The copy is read, and the remote is asked whether it has changed.
  await cache.getSession(KEY).catch(requireAborted);
  const config = { reads: 'cache-only' } as const;
  await until(async () => {
    const session = await cache.getSession({ ...KEY, config }).catch(requireAborted);
    return session === undefined;
  });
  assert.deepEqual(cache.status.pending, []);
  permission = true;
  await cache.sync();
  const { sessions } = await service.listSessions({ appName: KEY.appName });
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ['s1'],
  );
  await cache.close();
});
