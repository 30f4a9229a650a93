import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from '../wasm/child.js';

/**
 * Replaces `Promise` as zone.js does, which OpenTelemetry loads in pages. Async functions still return the host's own
 * promises, which are no instances of it.
 */
const REPLACED = `
  globalThis.Promise = class extends Promise {};
  const { openSessionService } = await load('index.js');
  const { MapStorage } = await load('../tests/js/service/map_storage.js');
  const storage = new MapStorage();
  const append = storage.append.bind(storage);
  storage.append = async (...given) => append(...given);
  const service = await openSessionService({ storage });
  const session = await service.createSession(key);
`;

describe('A service in a page that replaces `Promise`', () => {
  it('stores, reads and lists', async () => {
    const found = await inChild<unknown>(`
      ${REPLACED}
      const events = ['e1', 'e2', 'e3'].map((id) => ({ id, author: 'user' }));
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      await service.updateState({ ...key, stateDelta: () => ({ a: 1 }) });
      const stored = await service.getSession(key);
      const { sessions } = await service.listSessions({ appName: 'app' });
      return [session.events.length, stored.events.length, stored.state, sessions.length];
    `);
    assert.deepEqual(found, [3, 4, { a: 1 }, 1]);
  });

  it('fails an append that its storage refuses', async () => {
    const [outcome, events, stored] = await inChild<[Outcome, number, number]>(`
      ${REPLACED}
      storage.append = async () => {
        throw new Error('the disk is full');
      };
      const outcome = await codeOf(() => service.appendEvent({ session, event: { id: 'e1' } }));
      return [outcome, session.events.length, (await service.getSession(key)).events.length];
    `);
    assert.equal(outcome.code, 'storage_failed', outcome.message);
    assert.deepEqual([events, stored], [0, 0]);
  });

  it('refuses an event that is a promise', async () => {
    const outcome = await inChild<Outcome>(`
      ${REPLACED}
      const event = (async () => ({ id: 'e1' }))();
      return codeOf(() => service.appendEvent({ session, event }));
    `);
    assert.equal(outcome.code, 'invalid_argument', outcome.message);
  });
});
