// Views of copies that have only the newest events.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind } from '../../../../js/history/index.js';
import type { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import { event, idsOf, KEY, openCache, Server } from '../fixture.js';

const TRANSCRIPT = { view: 'transcript' } as const;

/** A session of 400 events, each two of an invocation. */
async function serverWith400(): Promise<Server> {
  const server = new Server();
  const events = Array.from({ length: 400 }, (_, index) => inTurn(index >> 1, `e${index}`));
  await server.service.createSession({ ...KEY, events });
  return server;
}

function inTurn(turn: number, id: string) {
  return { ...event(id), invocationId: `i${turn}` };
}

const undo = (service: StoredSessionService, turn: number) =>
  rewind(service, { ...KEY, before: { invocationId: `i${turn}` } });

const append = async (service: StoredSessionService, turn: number, id: string): Promise<void> => {
  const session = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
  await service.appendEvent({ session: session!, event: inTurn(turn, id) });
};

const shownIn = async (service: StoredSessionService) =>
  idsOf(await service.getSession({ ...KEY, config: TRANSCRIPT }));

describe('Without a connection, a view of a copy of the last events', () => {
  it('shows nothing that a rewind before older events has undone', async () => {
    const server = await serverWith400();
    await undo(server.service, 40);
    await append(server.service, 1000, 'new');
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    assert.deepEqual(await shownIn(cache), ['new']);
    const config = { ...TRANSCRIPT, numRecentEvents: 5 };
    assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config })), ['new']);
    const page = await cache.listEvents({ ...KEY, ...TRANSCRIPT, limit: 50 });
    assert.deepEqual(idsOf(page), ['new']);
    assert.notEqual(page.before, undefined);
    await cache.close();
  });

  it('shows nothing that a rewind has undone whose invocation begins before the copy and goes on in it', async () => {
    const server = await serverWith400();
    // The invocation waited for an answer.
    await append(server.service, 40, 'answer');
    await append(server.service, 1000, 'another');
    await undo(server.service, 40);
    await append(server.service, 1001, 'new');
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    assert.deepEqual(await shownIn(cache), ['new']);
    await cache.close();
  });

  it('shows what stays before a rewind of this device', async () => {
    const server = await serverWith400();
    const { cache } = openCache(server);
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    const marker = event('rewind');
    Object.assign(marker.actions, { rewindBeforeInvocationId: 'i199' });
    await cache.appendEvent({ session: session!, event: marker });
    assert.equal((await shownIn(cache))?.at(-1), 'e397');
    await cache.close();
  });
});
