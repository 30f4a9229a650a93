// The conformance suite through a cache over a remote service over a handler over memory.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { CachedSessionService } from '../../../js/cache/index.js';
import { RemoteSessionService } from '../../../js/remote/index.js';
import type { Case } from '../../../js/testing/case.js';
import { runCase } from '../../../js/testing/run_case.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../remote/fixture.js';

const file = new URL('../../../src/conformance/cases.json', import.meta.url);
/** The local storage has the owner and the app as one name, so an app's name must be shorter. */
const UNSUPPORTED = 'ids of 512 bytes are the longest, and their last byte counts';
const cases = (JSON.parse(readFileSync(file, 'utf8')) as Case[]).filter(
  ({ name }) => name !== UNSUPPORTED,
);

describe('A cache over a remote service', () => {
  for (const testCase of cases) {
    it(testCase.name, async () => {
      const opened: { close(): Promise<void> }[] = [];
      const run = runCase(testCase, ({ clock, ...options }) => {
        const service = new InMemorySessionService({ clock });
        const fetch = fetchFrom(handlerOn(service, { maxEvents: 10_000 }));
        const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
        const local = new InMemorySessionService();
        opened.push(service, remote, local);
        return Promise.resolve(
          new CachedSessionService({ ...options, clock, remote, local, owner: 'ada' }),
        );
      });
      await run;
      await Promise.all(opened.map((service) => service.close()));
    });
  }

  it('takes ids of 512 bytes, and an owner and an app of 497 bytes together', async () => {
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
});
