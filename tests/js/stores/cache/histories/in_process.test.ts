// Histories through a cache over a service of the same process, whose storage computes none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  branches,
  fork,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../../js/core/history/index.js';
import { editTurn } from '../../../../../js/core/history/turns.js';
import { InMemorySessionService, openSessionService } from '../../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { wholeStorage } from '../../../service/whole_storage.js';
import { event, KEY, until, untilSent } from '../fixture.js';

const SERVICES = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
  'a storage of a user': () => openSessionService({ storage: wholeStorage() }),
} as const;

const TURNS = ['i1', 'i2', 'i3'] as const;

for (const [name, open] of Object.entries(SERVICES)) {
  /** A cache over a service with three turns, whose deltas name them. */
  const openTurns = async () => {
    const service = await open();
    const session = await service.createSession({ ...KEY, state: { turn: 'none' } });
    for (const id of TURNS) {
      const said = { ...event(id, { turn: id, [id]: true }), invocationId: id };
      await service.appendEvent({ session, event: said });
    }
    const cache = new CachedSessionService({
      remote: service,
      local: new MemoryLocalStore(),
      owner: 'ada',
    });
    const shown = async (from: typeof cache | typeof service) =>
      (await from.getSession({ ...KEY, config: { view: 'transcript' } }))?.events.map(
        ({ id }) => id,
      );
    const stateOf = async (from: typeof cache | typeof service) =>
      (await from.getSession(KEY))?.state;
    const settled = async () => {
      await cache.sync();
      assert.ok(untilSent(cache));
      assert.deepEqual(cache.status.pending, []);
      assert.deepEqual(await cache.getSession(KEY), await service.getSession(KEY));
    };
    const close = async () => {
      await cache.close();
      await service.close();
    };
    return { service, cache, shown, stateOf, settled, close };
  };

  describe(`A cache over ${name}`, () => {
    it('rewinds, switches and undoes, and the service has the same', async () => {
      const { service, cache, shown, stateOf, settled, close } = await openTurns();
      const { event: marker } = await rewind(cache, { ...KEY, before: { invocationId: 'i2' } });
      await settled();
      assert.deepEqual([await shown(cache), await shown(service)], [['i1'], ['i1']]);
      assert.deepEqual(await stateOf(service), { turn: 'i1', i1: true });
      assert.equal((await service.getSession(KEY))?.events.at(-1)?.id, marker.id);
      const [turn] = await branches(cache, KEY);
      assert.deepEqual(await branches(service, KEY), [turn]);
      await switchBranch(cache, { ...KEY, branch: turn?.alternatives[0]?.branch ?? '' });
      await settled();
      assert.deepEqual(await shown(service), TURNS);
      await undoRewind(cache, KEY);
      await settled();
      assert.deepEqual(await shown(service), ['i1']);
      await close();
    });

    it('tells the watchers of the service of a rewind', async () => {
      const { service, cache, settled, close } = await openTurns();
      const notices: string[] = [];
      service.watch(KEY, { onNotice: ({ type }) => void notices.push(type) });
      await rewind(cache, { ...KEY, before: { eventId: 'i3' } });
      await settled();
      await until(() => notices.includes('appended'));
      await close();
    });

    it('edits a message, with what others have appended meanwhile undone', async () => {
      const { service, cache, shown, settled, close } = await openTurns();
      await cache.getSession(KEY);
      const session = (await service.getSession(KEY))!;
      const late = { ...event('late', { late: true }), invocationId: 'i3' };
      await service.appendEvent({ session, event: late });
      const content = { role: 'user', parts: [{ text: 'other' }] };
      const message = await editTurn(cache, { ...KEY, eventId: 'i2', content });
      await settled();
      assert.deepEqual(await shown(service), ['i1', message.id]);
      await close();
    });

    it('forks, and a second fork to the same place is the first one', async () => {
      const { service, cache, close } = await openTurns();
      const request = { ...KEY, newSessionId: 's2', at: { eventId: 'i2' } };
      const forked = await fork(cache, request);
      assert.deepEqual(
        forked.events.map(({ id }) => id),
        ['i1', 'i2'],
      );
      assert.deepEqual(forked.state, { turn: 'i2', i1: true, i2: true });
      assert.deepEqual(forked.parent, { sessionId: 's1', eventId: 'i2' });
      assert.deepEqual(await fork(cache, request), forked);
      assert.deepEqual(await service.getSession({ ...KEY, sessionId: 's2' }), forked);
      const other = fork(cache, { ...request, at: { eventId: 'i1' } });
      await assert.rejects(other, { code: 'already_exists' });
      await close();
    });

    it('tells a state of events that its copy lacks', async () => {
      const { cache, close } = await openTurns();
      await cache.getSession({ ...KEY, config: { numRecentEvents: 1 } });
      const { state } = await stateAt(cache, { ...KEY, eventId: 'i1' });
      assert.deepEqual(state, { turn: 'i1', i1: true });
      await close();
    });
  });
}
