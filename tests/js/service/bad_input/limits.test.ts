import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import { USER } from '../fixture.js';
import { LONE, LONG, nested } from './rows.js';

describe('Input at the limits', () => {
  it('a list returns a large limit and page as given', async () => {
    const service = new InMemorySessionService();
    const request = { appName: 'limits', limit: 1e10, page: 2e10 };
    const { limit, page, totalItems } = await service.listSessions(request);
    assert.deepEqual([limit, page, totalItems], [1e10, 2e10, 0]);
  });

  it('ids of 512 bytes, 200 levels in a state and 250 in an event are accepted', async () => {
    const service = new InMemorySessionService();
    const id = 'ü'.repeat(256);
    const state = { deep: nested(200, 'object'), list: nested(200, 'array') };
    const session = await service.createSession({ appName: id, userId: id, sessionId: id, state });
    const event = createEvent({ id, mine: nested(249, 'array'), actions: { stateDelta: state } });
    await service.appendEvent({ session, event });
    const read = await service.getSession({ appName: id, userId: id, sessionId: id });
    assert.deepEqual(read, JSON.parse(JSON.stringify(session)));
  });

  for (const sessionId of ['', ' ', LONG, LONE, 5, null, {}]) {
    it(`reading and deleting ${JSON.stringify(sessionId)?.slice(0, 20)} finds no session`, async () => {
      const service = new InMemorySessionService();
      const wrong = { ...USER, sessionId: sessionId as never };
      assert.equal(await service.getSession(wrong), undefined);
      assert.equal(service.getSessionSync(wrong), undefined);
      await service.deleteSession(wrong);
      service.deleteSessionSync(wrong);
    });
  }
});
