import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../js/database/index.js';
import { eventOf } from './concurrency.js';

/** The conformance suite checks the same with ids that servers refuse. */
export function ordersAsJavaScript(title: string, newUrl: () => Promise<string>) {
  it(`a list on ${title} orders sessions with equal times by id, as JavaScript compares strings`, async () => {
    const service = new DatabaseSessionService(await newUrl(), { clock: () => 1000 });
    const ids = ['ab', '\ufffd', 'b', '😀', 'é', 'B', 'a', '10', '9', 'a b', '_'];
    for (const sessionId of ids) {
      const session = await service.createSession({ appName: 'app', userId: 'user', sessionId });
      // The append gives the session's row a later time than the session has.
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
