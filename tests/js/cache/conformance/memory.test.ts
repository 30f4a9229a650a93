// The conformance suite through a cache: over memory here, over databases in `databases.test.ts`.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { CachedSessionService } from '../../../../js/cache/index.js';
import { conforms } from './conforms.js';

conforms('memory', (options) => new InMemorySessionService(options));

it('A cache takes ids of 512 bytes, and an owner and an app of 497 bytes together', async () => {
  const remote = new InMemorySessionService();
  const local = new InMemorySessionService();
  const owner = 'o'.repeat(240);
  const service = new CachedSessionService({ remote, local, owner });
  const longest = { userId: 'u'.repeat(512), sessionId: 's'.repeat(512) };
  await service.createSession({ ...longest, appName: 'a'.repeat(257) });
  const tooLong = service.createSession({ ...longest, appName: 'a'.repeat(258) });
  await assert.rejects(tooLong, { code: 'invalid_argument' });
  await service.sync();
  const { totalItems } = await remote.listSessions({ appName: 'a'.repeat(257) });
  assert.equal(totalItems, 1);
  for (const each of [service, remote, local]) await each.close();
});

it('A cache takes an owner of 480 bytes, and names the owner if it is longer', async () => {
  const remote = new InMemorySessionService();
  const open = (owner: string) => new CachedSessionService({ remote, owner });
  await open('o'.repeat(480)).close();
  for (const owner of ['o'.repeat(481), '\u0001'.repeat(81)]) {
    assert.throws(() => open(owner), { code: 'invalid_argument', key: 'owner', message: /480/ });
  }
});
