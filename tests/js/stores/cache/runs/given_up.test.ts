// Messages for the agent of the remote that are given up while changes wait that make no sense without them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { undoRewind } from '../../../../../js/core/history/index.js';
import { editTurn } from '../../../../../js/core/history/turns.js';
import { createEvent } from '../../../../../js/index.js';
import { storesMessage } from '../../../ui/live/runs/agents.js';
import { idsOf, KEY, openCache, Server } from '../fixture.js';

const run = { streaming: false };
const contentOf = (text: string) => ({ role: 'user', parts: [{ text }] });

const message = (id: string) =>
  createEvent({ id, invocationId: `of ${id}`, author: 'user', content: contentOf(id) });

/** Opens a cache without a connection, over a session that has the message `m0`. */
async function openOffline() {
  const agent = storesMessage(async function* ({ message }) {
    yield { id: `${message.id}!`, author: 'guide', content: contentOf('yes') };
  });
  const server = new Server(undefined, { authorize: () => true as const, run: agent });
  const session = await server.service.createSession(KEY);
  await server.service.appendEvent({ session, event: message('m0') });
  const { cache } = openCache(server);
  const copied = (await cache.getSession(KEY))!;
  server.isOffline = true;
  const edit = (eventId: string, messageId: string) =>
    editTurn(cache, { ...KEY, eventId, messageId, content: contentOf(messageId), run });
  /** Connects, and returns what the remote has and what it has refused. */
  const sync = async () => {
    server.isOffline = false;
    await cache.sync();
    const refused = (await cache.outbox.list(KEY)).map(({ error }) => error?.code);
    return { stored: idsOf(await server.service.getSession(KEY)), refused };
  };
  return { cache, session: copied, edit, sync };
}

describe('A message of the outbox that is given up', () => {
  it('takes its edit along, which would rewind to what is not there', async () => {
    const { cache, session, edit, sync } = await openOffline();
    await cache.appendEvent({ session, event: message('m1'), run });
    await edit('m1', 'm2');
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.deepEqual(await cache.outbox.list(KEY), []);
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['m0']);
    assert.deepEqual(await sync(), { stored: ['m0'], refused: [] });
    await cache.close();
  });

  it('takes the undoing of the rewind along that stores it', async () => {
    const { cache, edit, sync } = await openOffline();
    await edit('m0', 'm1');
    await undoRewind(cache, KEY);
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm1' }), true);
    assert.deepEqual(await cache.outbox.list(KEY), []);
    assert.deepEqual(await sync(), { stored: ['m0'], refused: [] });
    await cache.close();
  });

  it('leaves the edit of another message', async () => {
    const { cache, session, edit, sync } = await openOffline();
    await cache.appendEvent({ session, event: message('m1') });
    await edit('m0', 'm2');
    await cache.appendEvent({ session: (await cache.getSession(KEY))!, event: message('m3'), run });
    assert.equal(await cache.cancelRun({ ...KEY, messageId: 'm3' }), true);
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual(
      entry?.changes.map(({ kind }) => kind),
      ['append', 'rewind'],
    );
    const { stored, refused } = await sync();
    assert.deepEqual([stored?.includes('m2'), refused], [true, []]);
    await cache.close();
  });
});
