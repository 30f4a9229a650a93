/** Results of the wasm are objects. Keys that users choose must not become their members. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEvent, InMemorySessionService, isSessionError } from '../../../../js/index.js';

const PROTO = '__proto__';

describe('results of the wasm', () => {
  it('list a session, a user and a label that are named __proto__', async () => {
    const service = new InMemorySessionService();
    const key = { appName: 'shop', userId: PROTO, sessionId: PROTO };
    const labels = JSON.parse(`{"${PROTO}": "odd"}`) as Record<string, string>;
    await service.createSession({ ...key, state: { 'user:name': 'Ada' }, labels });
    const { sessions } = await service.listSessions({ appName: 'shop' });
    const [listed] = sessions;
    assert.equal(listed?.id, PROTO);
    assert.equal(listed.userId, PROTO);
    assert.deepEqual(listed.state, { 'user:name': 'Ada' });
    assert.deepEqual(Object.entries(listed.labels ?? {}), [[PROTO, 'odd']]);
  });

  it('name the stored revision of an event __proto__ that was expected otherwise', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ appName: 'shop', userId: 'ada' });
    await service.appendEvent({ session, event: createEvent({ id: PROTO, author: 'user' }) });
    const expectedEvents = JSON.parse(`{"${PROTO}": null}`) as Record<string, null>;
    const event = createEvent({ id: PROTO, author: 'model' });
    await assert.rejects(service.appendEvent({ session, event, expectedEvents }), (error) => {
      assert.ok(isSessionError(error, 'stale_session'));
      assert.deepEqual(Object.entries(error.actualEvents ?? {}), [[PROTO, 2]]);
      return true;
    });
  });

  it('name a missing event of an append with null', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ appName: 'shop', userId: 'ada' });
    const event = createEvent({ id: 'e1', author: 'user' });
    const append = service.appendEvent({ session, event, expectedEvents: { e1: 7 } });
    await assert.rejects(append, (error) => {
      assert.ok(isSessionError(error, 'stale_session'));
      assert.deepEqual(error.actualEvents, { e1: null });
      return true;
    });
  });
});
