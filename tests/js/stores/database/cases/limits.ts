import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { eventOf, type Open } from './concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
/** As many characters as the columns hold, and more UTF-16 code units. */
const LONGEST = '한'.repeat(100) + '😀'.repeat(28);

/** A value that does not fit into a column is refused before anything is written. */
export function keepsItsLimits(title: string, newUrl: () => Promise<string>, open: Open) {
  describe(`The columns of ${title}`, () => {
    let service: DatabaseSessionService;
    before(async () => (service = open(await newUrl())));
    after(() => service.close());

    it('hold ids of 128 characters, and an invocationId of 256', async () => {
      const key = { appName: LONGEST, userId: LONGEST, sessionId: LONGEST };
      const session = await service.createSession(key);
      const event = { ...eventOf(LONGEST), invocationId: LONGEST + LONGEST };
      await service.appendEvent({ session, event });
      const stored = await service.getSession(key);
      assert.equal(stored?.id, LONGEST);
      assert.deepEqual(stored.events, [event]);
      await service.deleteSession(key);
      assert.equal(await service.getSession(key), undefined);
    });

    for (const [what, id] of [
      ['of 129 characters', `${LONGEST}x`],
      ['with a NUL', 'a\0b'],
    ] as const) {
      for (const name of ['appName', 'userId', 'sessionId'] as const) {
        it(`refuse to create a ${name} ${what}; reading and deleting it find nothing`, async () => {
          const key = { ...KEY, [name]: id };
          await assert.rejects(service.createSession(key), { code: 'invalid_argument', key: name });
          assert.equal(await service.getSession(key), undefined);
          await service.deleteSession(key);
          if (name === 'sessionId') return;
          const { totalItems } = await service.listSessions(key);
          assert.equal(totalItems, 0);
        });
      }

      it(`refuse an event id ${what}, and do not change the handle`, async () => {
        const session = await service.getOrCreateSession(KEY);
        const event = eventOf(id, { n: 1 });
        const appended = service.appendEvent({ session, event });
        await assert.rejects(appended, { code: 'invalid_argument', key: 'event.id' });
        assert.deepEqual([session.events, session.state], [[], {}]);
      });
    }

    for (const [what, invocationId] of [
      ['of 257 characters', `${LONGEST}${LONGEST}x`],
      ['with a NUL', 'a\0b'],
    ] as const) {
      it(`refuse an invocationId ${what}, and do not store its event`, async () => {
        const session = await service.getOrCreateSession(KEY);
        const event = { ...eventOf('e', { 'app:n': 1 }), invocationId };
        const appended = service.appendEvent({ session, event });
        await assert.rejects(appended, { code: 'invalid_argument', key: 'event.invocationId' });
        assert.deepEqual(session.events, []);
        assert.deepEqual(await service.getAppState(KEY), {});
        assert.deepEqual((await service.getSession(KEY))?.events, []);
      });
    }
  });
}
