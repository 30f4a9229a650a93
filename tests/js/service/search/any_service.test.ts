import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import {
  createEvent,
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import { asAdkService } from '../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { type SearchHit, sessionSearch } from '../../../../js/service/search/index.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { says, USER } from '../fixture.js';
import { randomNumbers } from '../read/list_model.js';
import { wholeStorage } from '../whole_storage.js';

const WORDS = ['tea', 'teapot', 'green', 'Grün', 'größe', '緑茶'];

const namesOf = (hits: readonly SearchHit[]): string[] =>
  hits.map(({ sessionId, eventId = 'title' }) => `${sessionId}/${eventId}`);

/** Whether a text has all of the words, each at the beginning of a word. */
const fits = (text: string, words: readonly string[]): boolean => {
  const own = text.toLowerCase().split(' ');
  return words.every((word) => own.some((other) => other.startsWith(word.toLowerCase())));
};

/** What a search must find, from all that the service has. */
async function expected(service: SessionService, words: readonly string[]): Promise<string[]> {
  const { sessions } = await service.listSessions({ ...USER, order: 'desc' });
  const found: string[] = [];
  for (const { id: sessionId, title = '' } of sessions) {
    const config = { view: 'transcript' } as const;
    const { events } = (await service.getSession({ ...USER, sessionId, config }))!;
    const own = fits(title, words) ? [`${sessionId}/title`] : [];
    for (const { id, content } of events.reverse()) {
      if (fits(content?.parts?.[0]?.text ?? '', words)) own.push(`${sessionId}/${id}`);
    }
    found.push(...own.slice(0, 5));
  }
  return found;
}

/** Creates, appends, replaces, rewinds, renames and deletes, and compares a search with all texts after each step. */
async function compare(service: SessionService, seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const search = sessionSearch(service);
  const words = (most: number) => Array.from({ length: 1 + random(most) }, () => WORDS[random(6)]!);
  for (let step = 0; step < 60; step += 1) {
    const key = { ...USER, sessionId: `s${random(4)}` };
    const session = await service.getOrCreateSession(key);
    const last = session.events.at(-1);
    const act = random(10);
    if (act < 5) {
      const event = { ...says(words(5).join(' ')), invocationId: `i${step}` };
      await service.appendEvent({ session, event });
    } else if (act === 5 && last?.author === 'user') {
      const content = { parts: [{ text: words(5).join(' ') }] };
      await service.appendEvent({ session, event: createEvent({ ...last, content }) });
    } else if (act === 6 && last?.author === 'user') {
      await rewind(service, { ...key, before: { eventId: last.id } });
    } else if (act === 7) {
      await undoRewind(service, key).catch(() => undefined);
    } else if (act === 8) {
      await service.updateSession(key, { title: random(3) ? words(3).join(' ') : null });
    } else if (act === 9) {
      await service.deleteSession(key);
    }
    const wanted = words(2);
    const { hits, isComplete } = await search.find({
      ...USER,
      query: wanted.join(' '),
      limit: 100,
    });
    assert.ok(isComplete);
    assert.deepEqual(namesOf(hits), await expected(service, wanted), `${seed}: ${wanted.join()}`);
  }
  await service.close();
}

describe('A search compared with all texts', () => {
  const services = {
    memory: () => new InMemorySessionService(),
    'the storage of the examples': () => openSessionService({ storage: wholeStorage() }),
    SQLite: () => new DatabaseSessionService('sqlite::memory:'),
    HTTP: () => openRemote().remote,
  };
  for (const [name, open] of Object.entries(services)) {
    it(`finds the same over ${name}`, async () => {
      for (let seed = 0; seed < 3; seed += 1) await compare(await open(), seed);
    });
  }
});

describe('A search', () => {
  it('finds what another process has written', async () => {
    const storage = wholeStorage();
    const [ours, theirs] = await Promise.all([
      openSessionService({ storage }),
      openSessionService({ storage }),
    ]);
    const search = sessionSearch(ours);
    const session = await theirs.createSession({ ...USER, sessionId: 's1' });
    assert.deepEqual((await search.find({ ...USER, query: 'tea' })).hits, []);
    await theirs.appendEvent({ session, event: says('Tea') });
    assert.equal((await search.find({ ...USER, query: 'tea' })).hits.length, 1);
  });

  it('of a service for a Runner that reads the last events finds all of them', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...USER, sessionId: 's1' });
    await service.appendEvents({
      session,
      events: ['Tea', 'More', 'Coffee'].map((text) => says(text)),
    });
    const forRunner = asAdkService(service, { numRecentEvents: 1 }) as unknown as SessionService;
    assert.equal((await sessionSearch(forRunner).find({ ...USER, query: 'tea' })).hits.length, 1);
  });

  it('through a cache without a connection finds what was there and what is unsent', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const user = { appName: 'shop', userId: 'ada' };
    const session = await cache.createSession({ ...user, sessionId: 's1' });
    await cache.appendEvent({ session, event: says('Green tea') });
    await cache.sync();
    const search = sessionSearch(cache);
    server.isOffline = true;
    await cache.appendEvent({ session, event: says('Black tea') });
    const { hits } = await search.find({ ...user, query: 'tea' });
    assert.equal(hits.length, 2);
  });
});
