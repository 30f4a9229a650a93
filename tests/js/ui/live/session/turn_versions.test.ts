// `turns` of a snapshot: which versions of a turn there are, over each storage, and what reading them costs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { mapStorage } from '../../../../../examples/map_storage.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { InMemorySessionService, type NewEvent } from '../../../../../js/index.js';
import { openSessionService, type SessionService } from '../../../../../js/index.js';
import { type LiveSession, liveSession } from '../../../../../js/ui/live/index.js';
import { openCache, Server } from '../../../stores/cache/fixture.js';
import { openRemote } from '../../../stores/remote/fixture.js';
import { KEY, snapshotOf } from '../stores.js';

const said = (author: string, invocationId: string, text: string): NewEvent => ({
  id: text,
  invocationId,
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
});
const text = (text: string) => ({ role: 'user', parts: [{ text }] });

/** A service, and the one that reads the stored events for it. */
interface Opened {
  readonly service: SessionService;
  readonly reader: SessionService;
  readonly close?: () => Promise<void>;
}

const own = (service: SessionService): Opened => ({ service, reader: service });

const SERVICES: Readonly<Record<string, () => Promise<Opened>>> = {
  memory: async () => own(new InMemorySessionService()),
  'a storage of a user': async () => own(await openSessionService({ storage: mapStorage() })),
  SQLite: async () => {
    const service = new DatabaseSessionService('sqlite::memory:');
    return { ...own(service), close: () => service.close() };
  },
  HTTP: async () => {
    const { service: reader, remote: service } = openRemote();
    return { service, reader };
  },
  'a cache': async () => {
    const server = new Server();
    const { cache: service } = openCache(server);
    return { service, reader: server.service, close: () => service.close() };
  },
};

/** Those that read the whole session for the versions, and so know them before `loadOlder`. */
const READS_ALL = new Set(['a storage of a user', 'a cache']);

/** Makes a session of turns, and a live session that shows the last four events. */
async function converse({ service }: Opened, count: number): Promise<LiveSession> {
  const session = await service.createSession(KEY);
  const ids = Array.from({ length: count }, (_, at) => `i${at}`);
  const events = ids.flatMap((id) => [said('user', id, `${id}?`), said('guide', id, `${id}!`)]);
  for (let at = 0; at < events.length; at += 500) {
    await service.appendEvents({ session, events: events.slice(at, at + 500) });
  }
  return liveSession(service, KEY, { window: 4, turns: true });
}

/** Returns the versions of the turn of the last event, once `isRead` holds for them. */
async function lastTurn(chat: LiveSession, count: number) {
  const { turns, events } = await snapshotOf(chat, ({ turns, events }) => {
    return turns[events.at(-1)?.invocationId ?? '']?.count === count;
  });
  return turns[events.at(-1)?.invocationId ?? '']!;
}

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`turns of a live session over ${name}`, () => {
    it('names the versions of an edited turn, and switches between them', async () => {
      const opened = await open();
      const chat = await converse(opened, 5);
      const stop = chat.subscribe(() => undefined);
      await chat.load();
      assert.deepEqual({ ...chat.getSnapshot().turns }, {});
      const edited = await chat.edit('i4?', text('black?'));
      await chat.regenerate(edited.id);
      const third = await lastTurn(chat, 3);
      assert.deepEqual([third.index, third.next], [2, undefined]);
      await chat.switchBranch(third.previous!);
      const second = await lastTurn(chat, 3);
      assert.equal(second.index, 1);
      await chat.switchBranch(second.previous!);
      const first = await lastTurn(chat, 3);
      assert.deepEqual([first.index, first.previous], [0, undefined]);
      assert.equal(chat.getSnapshot().events.at(-1)?.id, 'i4!');
      await chat.switchBranch(first.next!);
      assert.equal((await lastTurn(chat, 3)).index, 1);
      stop();
      await opened.close?.();
    });

    it('names the versions of turns that `loadOlder` shows', async () => {
      const opened = await open();
      const chat = await converse(opened, 8);
      await chat.edit('i7?', text('white?'));
      const stop = chat.subscribe(() => undefined);
      await lastTurn(chat, 2);
      const session = (await opened.service.getSession(KEY))!;
      // More than are read beyond the shown events.
      const ids = Array.from({ length: 60 }, (_, at) => `n${at}`);
      const events = ids.flatMap((id) => [said('user', id, `${id}?`), said('guide', id, `${id}!`)]);
      await opened.service.appendEvents({ session, events });
      await chat.reload();
      const later = liveSession(opened.service, KEY, { window: 4, turns: true });
      const end = later.subscribe(() => undefined);
      await later.load();
      if (!READS_ALL.has(name)) assert.deepEqual(Object.values(later.getSnapshot().turns), []);
      await later.loadOlder(130);
      const { turns } = await snapshotOf(later, ({ turns }) => Object.keys(turns).length > 0);
      assert.deepEqual(
        Object.values(turns).map(({ index, count }) => [index, count]),
        [[1, 2]],
      );
      stop();
      end();
      await opened.close?.();
    });

    // Without the verb `readMarkers`, a storage reads the whole session to find its rewinds.
    if (name === 'a storage of a user') return;
    it('reads no more than about the shown events', async () => {
      const opened = await open();
      const chat = await converse(opened, 1000);
      await chat.edit('i999?', text('black?'));
      const { reader } = opened;
      const { getSession } = reader;
      const sizes: number[] = [];
      reader.getSession = async (request: Parameters<typeof getSession>[0]) => {
        const session = await getSession.call(reader, request);
        sizes.push(session?.events.length ?? 0);
        return session;
      };
      await lastTurn(chat, 2);
      assert.ok(
        sizes.every((size) => size <= 64),
        `Read ${sizes.join()}`,
      );
      await opened.close?.();
    });
  });
}

describe('turns of a live session', () => {
  it('are read only with the option', async () => {
    const { service, remote } = openRemote();
    const { getSession } = service;
    const chat = await converse({ service: remote, reader: service }, 3);
    const reads: unknown[] = [];
    service.getSession = (request: Parameters<typeof getSession>[0]) => {
      reads.push(request.config?.view);
      return getSession.call(service, request);
    };
    const plain = liveSession(remote, KEY, { window: 4 });
    await plain.edit('i2?', text('black?'));
    reads.length = 0;
    await plain.reload();
    assert.deepEqual({ ...plain.getSnapshot().turns }, {});
    assert.deepEqual(reads, ['transcript']);
    await chat.load();
    assert.deepEqual(Object.keys(chat.getSnapshot().turns).length, 1);
  });

  it('stays the same object until a version is added', async () => {
    const service = new InMemorySessionService();
    const chat = await converse({ service, reader: service }, 3);
    const stop = chat.subscribe(() => undefined);
    await chat.edit('i2?', text('black?'));
    await lastTurn(chat, 2);
    const { turns } = chat.getSnapshot();
    await chat.send(said('guide', chat.getSnapshot().events.at(-1)!.invocationId, 'Yes.'));
    await chat.reload();
    assert.equal(chat.getSnapshot().turns, turns);
    stop();
  });

  it('names versions of a turn whose parent began before the events that were read first', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    await service.appendEvents({
      session,
      events: [said('user', 'a', 'a?'), said('guide', 'a', 'a!')],
    });
    const chat = liveSession(service, KEY, { window: 2, turns: true });
    await chat.load();
    let last = await chat.send(said('user', 'b', 'b?'));
    for (let version = 2; version <= 100; version += 1) {
      last = await chat.regenerate(last.id);
    }
    const stop = chat.subscribe(() => undefined);
    const turn = await lastTurn(chat, 100);
    assert.deepEqual([turn.index, turn.next], [99, undefined]);
    await chat.switchBranch(turn.previous!);
    assert.equal((await lastTurn(chat, 100)).index, 98);
    stop();
  });

  it('leaves out what an undone branch had before the shown events', async () => {
    const service = new InMemorySessionService();
    const chat = await converse({ service, reader: service }, 40);
    await chat.load();
    // The other branch of an early turn, with a later turn of its own, stands between the shown turns in the storage.
    await chat.edit('i1?', text('other?'));
    const [place] = await chat.branches();
    await chat.switchBranch(place!.alternatives[0]!.branch!);
    await chat.edit('i39?', text('last?'));
    const stop = chat.subscribe(() => undefined);
    await lastTurn(chat, 2);
    assert.deepEqual(Object.keys(chat.getSnapshot().turns).length, 1);
    stop();
  });
});
