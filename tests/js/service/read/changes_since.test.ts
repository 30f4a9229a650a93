// What `listChanges` returns beside the cases of the conformance suite, and what it asks of a storage.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  openSessionService,
} from '../../../../js/index.js';
import type { Storage, StorageReadRequest } from '../../../../js/core/storage/index.js';
import { wholeStorage } from '../whole_storage.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const event = (id: string, author = 'user') =>
  createEvent({ id, invocationId: 'i', author, timestamp: 1000 });

describe('listChanges', () => {
  it('returns each event with the revisions of its first append and its last write', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    await service.appendEvents({ session, events: [event('e1'), event('e2')] });
    const since = service.revisionOf(session)!;
    await service.appendEvents({ session, events: [event('e3'), event('e1', 'agent')] });
    const changes = await service.listChanges({ ...KEY, since });
    const rows = changes.events?.map(({ seq, revision, event }) => [event.id, seq, revision]);
    assert.deepEqual(rows, [
      ['e1', since - 1, since + 2],
      ['e3', since + 1, since + 1],
    ]);
    assert.equal(changes.revision, since + 2);
    assert.equal(changes.isRecreated, false);
  });

  it('returns neither events nor state if the revision is the one asked for', async () => {
    const service = new InMemorySessionService({ clock: () => 1000 });
    const session = await service.createSession({ ...KEY, state: { a: 1 } });
    const since = service.revisionOf(session)!;
    const changes = await service.listChanges({ ...KEY, since });
    const head = { created: since, revision: since, lastUpdateTime: 1000, isRecreated: false };
    assert.deepEqual(changes, { ...head, events: [] });
  });

  it('returns no events for a revision that the session has not reached', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const { events, state, isRecreated } = await service.listChanges({ ...KEY, since: 99 });
    assert.deepEqual([events, state, isRecreated], [undefined, undefined, false]);
  });

  it('returns no events for another created than that of the session', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const { created } = await service.listChanges({ ...KEY, since: 0 });
    const since = created;
    const same = await service.listChanges({ ...KEY, since, created });
    assert.deepEqual([same.isRecreated, same.events], [false, []]);
    const other = await service.listChanges({ ...KEY, since, created: created + 1 });
    assert.deepEqual([other.isRecreated, other.events], [true, undefined]);
  });

  it('refuses what is no revision, and a session that does not exist', async () => {
    const service = new InMemorySessionService();
    for (const given of [{ since: -1 }, { since: 0.5 }, { since: null }, { created: -1 }]) {
      const request = { ...KEY, since: 0, ...given } as typeof KEY & { since: number };
      const isInvalid = (error: unknown) => isSessionError(error, 'invalid_argument');
      await assert.rejects(service.listChanges(request), isInvalid);
    }
    await assert.rejects(service.listChanges({ ...KEY, sessionId: 'none', since: 0 }), (error) =>
      isSessionError(error, 'not_found'),
    );
  });

  it('shares no object with the storage, nor between an event and the state', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const since = service.revisionOf(session)!;
    const given = createEvent({ id: 'e1', invocationId: 'i', author: 'user' });
    given.actions.stateDelta = { list: [1] };
    await service.appendEvent({ session, event: given });
    const changes = await service.listChanges({ ...KEY, since });
    (changes.state?.list as number[]).push(2);
    const [first] = changes.events!;
    assert.deepEqual(first?.event.actions.stateDelta, { list: [1] });
    assert.deepEqual((await service.getSession(KEY))?.state, { list: [1] });
  });

  it('reads a storage once, with a limit, and writes nothing', async () => {
    const reads: StorageReadRequest['window'][] = [];
    let writes = 0;
    const storage = wholeStorage();
    const spy: Storage = {
      ...storage,
      read(request) {
        reads.push(request.window);
        return storage.read(request);
      },
      append(request, decide) {
        writes += 1;
        return storage.append(request, decide);
      },
    };
    const service = await openSessionService({ storage: spy });
    const session = await service.createSession(KEY);
    const since = service.revisionOf(session)!;
    await service.appendEvent({ session, event: event('e1') });
    const { events } = await service.listChanges({ ...KEY, since });
    assert.deepEqual(
      events?.map(({ event }) => event.id),
      ['e1'],
    );
    assert.deepEqual(reads, [{ since, last: 1001 }]);
    assert.equal(writes, 1);
  });

  it('reports an event whose stored text is damaged', async () => {
    const storage = wholeStorage();
    const service = await openSessionService({
      storage: {
        ...storage,
        async read(request) {
          const rows = await storage.read(request);
          return { ...rows, events: rows.events.map((row) => ({ ...row, text: '{' })) };
        },
      },
    });
    const session = await service.createSession(KEY);
    const since = service.revisionOf(session)!;
    await service.appendEvent({ session, event: event('e1') });
    await assert.rejects(service.listChanges({ ...KEY, since }), (error) =>
      isSessionError(error, 'corrupt_record'),
    );
  });
});
