// A question is edited elsewhere, while the page shows another chat and an agent still answers the first question.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import {
  InMemorySessionService,
  type NewEvent,
  type SessionService,
} from '../../../../../js/index.js';
import {
  type LiveSession,
  liveSession,
  type LiveSessionOptions,
} from '../../../../../js/ui/live/index.js';
import { openCache, Server } from '../../../stores/cache/fixture.js';
import { KEY, snapshotOf, textOf } from '../stores.js';
import { newFolder } from '../../../../new_folder.js';

const said = (author: string, text: string): NewEvent => ({
  id: text,
  invocationId: 'i1',
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
});

/** Two services over the same sessions, and how the first one learns what the other has written. */
interface Ends {
  readonly here: SessionService;
  readonly elsewhere: SessionService;
  readonly sync?: () => Promise<void>;
  readonly close: () => Promise<unknown>;
}

const STORAGES: Readonly<Record<string, () => Ends>> = {
  memory() {
    const service = new InMemorySessionService();
    return { here: service, elsewhere: service, close: () => service.close() };
  },
  SQLite() {
    const folder = newFolder();
    const open = () => new DatabaseSessionService(`sqlite:${join(folder, 'sessions.db')}`);
    const [here, elsewhere] = [open(), open()];
    const close = async (): Promise<void> => {
      await Promise.all([here.close(), elsewhere.close()]);
    };
    return { here, elsewhere, close };
  },
  HTTP() {
    const server = new Server();
    const [here, elsewhere] = [server.client(), server.client()];
    return { here, elsewhere, close: () => Promise.all([here.close(), elsewhere.close()]) };
  },
  'a cache'() {
    const server = new Server();
    const { cache } = openCache(server);
    const elsewhere = server.client();
    const close = () => Promise.all([cache.close(), elsewhere.close()]);
    return { here: cache, elsewhere, sync: () => cache.sync(), close };
  },
};

const textsIn = async (service: SessionService): Promise<(string | undefined)[]> => {
  const session = await service.getSession({ ...KEY, config: { view: 'transcript' } });
  return session?.events.map(textOf) ?? [];
};

const isUndone = { code: 'stale_session', staleReason: 'undone' } as const;

for (const [name, open] of Object.entries(STORAGES)) {
  describe(`Over ${name}, the answer to a question that was edited elsewhere`, () => {
    /** Asks a question, shows another chat, and edits the question elsewhere. */
    async function askAndLeave(options?: LiveSessionOptions) {
      const { here, elsewhere, sync = () => Promise.resolve(), close } = open();
      const chat = liveSession(here, KEY, options);
      const leave = chat.subscribe(() => undefined);
      await chat.load();
      await chat.send(said('user', 'green?'));
      await snapshotOf(chat, ({ events }) => events.length === 1);
      leave();
      await sync();
      const other: LiveSession = liveSession(elsewhere, KEY);
      await other.edit('green?', { role: 'user', parts: [{ text: 'black?' }] });
      await sync();
      return { chat, here, elsewhere, sync, close };
    }

    it('is refused while nobody shows the chat', async () => {
      const { chat, elsewhere, close } = await askAndLeave();
      await assert.rejects(chat.send(said('guide', 'green!')), isUndone);
      assert.deepEqual(await textsIn(elsewhere), ['black?']);
      await close();
    });

    it('is refused when the chat is shown again, with every view', async () => {
      for (const view of ['transcript', 'raw', 'model'] as const) {
        const { chat, elsewhere, close } = await askAndLeave({ view });
        const leave = chat.subscribe(() => undefined);
        await chat.reload();
        await assert.rejects(chat.send(said('guide', 'green!')), isUndone);
        assert.deepEqual(await textsIn(elsewhere), ['black?']);
        leave();
        await close();
      }
    });

    it('is refused if the chat itself had edited its question before', async () => {
      const { chat, elsewhere, sync, close } = await askAndLeave();
      const question = await elsewhere.getSession({ ...KEY, config: { view: 'transcript' } });
      await chat.reload();
      const edited = await chat.edit(question?.events[0]?.id ?? '', {
        parts: [{ text: 'white?' }],
      });
      await sync();
      const other: LiveSession = liveSession(elsewhere, KEY);
      await other.edit(edited.id, { role: 'user', parts: [{ text: 'oolong?' }] });
      await sync();
      const answer = { ...said('guide', 'white!'), invocationId: edited.invocationId };
      await assert.rejects(chat.send(answer), isUndone);
      assert.deepEqual(await textsIn(elsewhere), ['oolong?']);
      await close();
    });
  });
}

it('A cache that does not know yet that a question was edited does not store the answer behind it', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const chat = liveSession(cache, KEY);
  await chat.send(said('user', 'green?'));
  await cache.sync();
  server.isOffline = true;
  await chat.send(said('guide', 'green!'));
  const other: LiveSession = liveSession(server.service, KEY);
  await other.edit('green?', { role: 'user', parts: [{ text: 'black?' }] });
  server.isOffline = false;
  await cache.sync();
  const { unsent } = await snapshotOf(chat, ({ unsent }) => unsent['green!']?.error !== undefined);
  assert.equal((unsent['green!']?.error as { code: string }).code, 'stale_session');
  assert.deepEqual(await textsIn(server.service), ['black?']);
  await cache.close();
});

it('A store takes another handle when the final answer is stored', async () => {
  const service = new InMemorySessionService({ stale: 'reject' });
  const chat = liveSession(service, KEY);
  await chat.send(said('user', 'green?'));
  await chat.send(said('guide', 'green!'));
  const session = await service.getSession(KEY);
  assert.ok(session);
  await service.appendEvent({ session, event: { ...said('user', 'more?'), invocationId: 'i2' } });
  let reads = 0;
  const read = service.getSession.bind(service);
  service.getSession = (request) => {
    reads += 1;
    return read(request);
  };
  await chat.reload();
  await chat.send({ ...said('user', 'and?'), invocationId: 'i3' });
  assert.equal(reads, 1);
  await service.close();
});
