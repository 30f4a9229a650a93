import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { eventOf } from './concurrency.js';

/** What the conformance suite shows with ids that servers refuse. */
export function ordersAsJavaScript(title: string, newUrl: () => Promise<string>) {
  it(`pages of sessions of one time on ${title} are in JavaScript's order of strings`, async () => {
    const service = new DatabaseSessionService(await newUrl(), { clock: () => 1000 });
    const ids = ['ab', '\ufffd', 'b', '😀', 'é', 'B', 'a', '10', '9', 'a b', '_'];
    for (const sessionId of ids) {
      const session = await service.createSession({ appName: 'app', userId: 'user', sessionId });
      // Its row gets a later time than that of the session.
      if (sessionId < 'a') await service.appendEvent({ session, event: eventOf('e') });
    }
    const pages: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const { sessions, totalPages } = await service.listSessions({
        appName: 'app',
        limit: 3,
        page,
      });
      assert.equal(totalPages, 4);
      pages.push(...sessions.map((session) => session.id));
    }
    assert.deepEqual(pages, [...ids].sort());
    const { sessions } = await service.listSessions({ appName: 'app', order: 'desc', limit: 20 });
    assert.deepEqual(sessions.map((session) => session.id).reverse(), pages);
    assert.deepEqual(new Set(sessions.map((session) => session.lastUpdateTime)), new Set([1000]));
    await service.close();
  });
}
