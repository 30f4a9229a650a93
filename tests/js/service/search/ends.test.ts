// What a search reads, and when it ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import { createEvent, InMemorySessionService, type SessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../js/service/search/index.js';
import { says, USER } from '../fixture.js';

const KEY = { ...USER, sessionId: 's1' };

/** Notes how many events each read has that a service makes, apart from counts. */
function notePages(service: SessionService): number[] {
  const pages: number[] = [];
  const { getSession, listEvents } = service;
  service.getSession = async (request) => {
    const session = await getSession.call(service, request);
    if (request.config?.numRecentEvents !== 0) pages.push(session?.events.length ?? 0);
    return session;
  };
  service.listEvents = async (request) => {
    const page = await listEvents.call(service, request);
    if (request.limit !== 1) pages.push(page.events.length);
    return page;
  };
  return pages;
}

async function withEvents(service: SessionService, texts: readonly string[]): Promise<void> {
  const session = await service.createSession(KEY);
  await service.appendEvents({ session, events: texts.map((text) => says(text)) });
}

const services: Record<string, () => SessionService> = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

for (const [name, open] of Object.entries(services)) {
  describe(`A search over ${name}`, () => {
    it('reads the events of a hit from the newest one back, as far as there are hits', async () => {
      const service = open();
      const texts = Array.from({ length: 400 }, (_, at) => `number ${at} ${at < 10 ? 'old' : ''}`);
      await withEvents(service, [...texts, 'Green tea']);
      const search = sessionSearch(service);
      const find = async (query: string) => (await search.find({ ...USER, query })).hits.length;
      const pages = notePages(service);
      assert.equal(await find('tea'), 1);
      // The row has all of them, and the hit is among the newest.
      // The first page of a walk has what was read with the session.
      const count = pages.reduce((sum, length) => sum + length, 0);
      assert.equal(count, name === 'memory' ? 401 + 32 : 401 + 16);
      pages.length = 0;
      assert.equal(await find('number'), 5);
      assert.deepEqual(pages, [16]);
      pages.length = 0;
      assert.equal(await find('absent'), 0);
      assert.deepEqual(pages, []);
      assert.equal(await find('old'), 5);
      await service.close();
    });

    it('reads long events in short pages, and gives the loop a turn between them', async () => {
      const service = open();
      const long = 'green tea '.repeat(5000);
      await withEvents(
        service,
        Array.from({ length: 60 }, () => long),
      );
      const search = sessionSearch(service);
      const pages = notePages(service);
      let turns = 0;
      const count = (): void => {
        turns += 1;
        timer = setImmediate(count);
      };
      let timer = setImmediate(count);
      const { hits, isComplete } = await search.find({ ...USER, query: 'tea' });
      clearImmediate(timer);
      assert.deepEqual([hits.length, isComplete], [5, false]);
      // A row has a megabyte: the older events are not read.
      assert.ok(Math.max(...pages.slice(1)) <= 16, pages.join());
      assert.ok(turns > 20, `${turns} turns`);
      await service.close();
    });
  });
}

describe('A search', () => {
  it('ends after two seconds with the hits that it has, and goes on at its cursor', async (t) => {
    const service = new InMemorySessionService();
    for (const sessionId of ['s1', 's2', 's3']) {
      const session = await service.createSession({ ...USER, sessionId });
      await service.appendEvent({ session, event: says('Tea') });
    }
    const search = sessionSearch(service);
    const all = (await search.find({ ...USER, query: 'tea' })).hits;
    assert.equal(all.length, 3);
    const { getSession } = service;
    const blocked = new Promise<never>(() => undefined);
    const second = all[1]!.sessionId;
    service.getSession = (request) =>
      request.sessionId === second ? blocked : getSession.call(service, request);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const first = search.find({ ...USER, query: 'tea' });
    for (let turns = 0; turns < 200; turns += 1) await Promise.resolve();
    t.mock.timers.tick(2000);
    const { hits, isComplete, nextCursor } = await first;
    assert.deepEqual([hits, isComplete], [all.slice(0, 1), false]);
    service.getSession = getSession;
    const rest = await search.find({ ...USER, query: 'tea', cursor: nextCursor });
    assert.deepEqual([rest.hits, rest.isComplete], [all.slice(1), true]);
  });

  it('goes on after the sessions that it has read, if their events are no hits', async (t) => {
    const service = new InMemorySessionService();
    for (const sessionId of ['s1', 's2', 's3']) {
      const session = await service.createSession({ ...USER, sessionId });
      await service.appendEvent({ session, event: says('Tea') });
    }
    const search = sessionSearch(service);
    const ids = (await search.find({ ...USER, query: 'tea' })).hits.map((hit) => hit.sessionId);
    const { getSession } = service;
    const blocked = new Promise<never>(() => undefined);
    const read: string[] = [];
    service.getSession = (request) => {
      read.push(request.sessionId);
      return request.sessionId === ids[2] ? blocked : getSession.call(service, request);
    };
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const find = async (cursor?: string) => {
      const first = search.find({ ...USER, query: 'tea', author: 'agent', cursor });
      for (let turns = 0; turns < 200; turns += 1) await Promise.resolve();
      t.mock.timers.tick(2000);
      const { hits, isComplete, nextCursor } = await first;
      assert.deepEqual([hits, isComplete], [[], false]);
      return nextCursor;
    };
    const cursor = await find();
    assert.deepEqual(read.splice(0), ids);
    assert.equal(await find(cursor), cursor);
    assert.deepEqual(read, ids.slice(2));
    service.getSession = getSession;
    const rest = await search.find({ ...USER, query: 'tea', author: 'agent', cursor });
    assert.deepEqual(rest, { hits: [], isComplete: true });
  });

  it('finds a file by its name, and not by the text that stands for it', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const parts = [{ text: 'Look' }, { text: '[Uploaded Artifact: "user:menu.pdf"]' }];
    const files = [{ part: 1, name: 'user:menu.pdf', version: 0 }];
    const customMetadata = { adk_session_wasm_files: files };
    const event = createEvent({ author: 'user', content: { parts }, customMetadata });
    await service.appendEvent({ session, event });
    const search = sessionSearch(service);
    const find = async (query: string) => (await search.find({ ...USER, query })).hits;
    assert.deepEqual(await find('uploaded artifact'), []);
    assert.deepEqual(await find('user'), []);
    const [hit] = await find('menu');
    assert.deepEqual(hit?.snippet, [
      { text: 'Look\n', isHit: false },
      { text: 'menu', isHit: true },
      { text: '.pdf', isHit: false },
    ]);
  });

  it('gives no title beside the first message that it was taken from, page by page too', async () => {
    const service = new InMemorySessionService({ autoTitle: true });
    await withEvents(service, ['Which green tea is it?', 'More tea']);
    await service.createSession({ ...USER, sessionId: 's2', title: 'Tea' });
    const search = sessionSearch(service);
    const find = async (limit: number, cursor?: string): Promise<(string | undefined)[]> => {
      const { hits, nextCursor } = await search.find({ ...USER, query: 'tea', limit, cursor });
      const own = hits.map(({ snippet }) => snippet.map(({ text }) => text).join(''));
      return nextCursor === undefined ? own : [...own, ...(await find(limit, nextCursor))];
    };
    const texts = ['Tea', 'More tea', 'Which green tea is it?'];
    assert.deepEqual((await find(20)).sort(), [...texts].sort());
    assert.deepEqual((await find(1)).sort(), [...texts].sort());
    await service.updateSession(KEY, { title: 'Tea of today' });
    assert.equal((await find(20)).length, 4);
  });

  it('finds a session by the title that a message has given which a rewind has undone', async () => {
    const service = new InMemorySessionService({ autoTitle: true });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: { ...says('Green tea'), invocationId: 'i1' } });
    await rewind(service, { ...KEY, before: { invocationId: 'i1' } });
    const search = sessionSearch(service);
    const isEvent = async () => {
      const { hits } = await search.find({ ...USER, query: 'tea' });
      return hits.map(({ eventId }) => eventId !== undefined);
    };
    assert.deepEqual(await isEvent(), [false]);
    await undoRewind(service, KEY);
    assert.deepEqual(await isEvent(), [true]);
  });
});
