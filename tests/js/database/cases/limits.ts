import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../js/database/index.js';
import { eventOf, type Open } from './concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
/** Of as many characters as the columns take; more of UTF-16. */
const LONGEST = '한'.repeat(100) + '😀'.repeat(28);

/** What the columns of a server cannot hold is refused before anything is written. */
export function keepsItsLimits(title: string, newUrl: () => Promise<string>, open: Open) {
  describe(`the columns of ${title}`, () => {
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
        it(`refuse a ${name} ${what}, under which nothing is found either`, async () => {
          const key = { ...KEY, [name]: id };
          await assert.rejects(service.createSession(key), { code: 'invalid_argument', key: name });
          assert.equal(await service.getSession(key), undefined);
          await service.deleteSession(key);
          if (name === 'sessionId') return;
          const { totalItems } = await service.listSessions(key);
          assert.equal(totalItems, 0);
        });
      }

      it(`refuse an event's id ${what}, and leave the handle as it was`, async () => {
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
      it(`refuse an invocationId ${what}, and store nothing of its event`, async () => {
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
