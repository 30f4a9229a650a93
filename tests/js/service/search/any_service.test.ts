import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

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
import { ProcessWords } from '../../../../js/service/search/process_words.js';
import { WordRecords } from '../../../../js/service/search/word_records.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { sqliteDriver } from '../../stores/database/optimistic/sqlite_driver.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { says, USER } from '../fixture.js';
import { randomNumbers } from '../read/list_model.js';
import { wholeStorage } from '../whole_storage.js';

const SHOP = { appName: 'shop', userId: 'ada' };

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

/** Records in a map. */
class MapRecords extends WordRecords {
  readonly stored = new Set<string>();
  override load = () => Promise.resolve([]);
  override marks = () => Promise.resolve(new Set<string>());
  override put: WordRecords['put'] = (_, rows) => {
    for (const { sessionId } of rows) this.stored.add(sessionId);
    return Promise.resolve();
  };
  override erase: WordRecords['erase'] = (_, sessionIds) => {
    for (const sessionId of sessionIds) this.stored.delete(sessionId);
    return Promise.resolve();
  };
}

describe('A search', () => {
  it('leaves no record of a session that is deleted between its reading and the writing', async () => {
    const service = new InMemorySessionService();
    const records = new MapRecords('name');
    const words = new ProcessWords(service, records);
    for (const sessionId of ['s1', 's2']) await service.createSession({ ...USER, sessionId });
    const release = await words.list(USER);
    const rows = ['s1', 's2'].map((sessionId) => {
      const ofRow = { version: '1', title: undefined, words: ' tea', seen: '' };
      return { sessionId, ...ofRow, revision: 1, eventCount: undefined };
    });
    await service.deleteSession({ ...USER, sessionId: 's1' });
    await words.write({ ...USER, rows });
    release();
    assert.deepEqual([...records.stored], ['s2']);
    assert.deepEqual([...(await words.read({ ...USER, sessionIds: ['s1', 's2'] })).keys()], ['s2']);
  });

  it('in memory lists the sessions of a user again only after a write', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...USER, sessionId: 's1' });
    const search = sessionSearch(service);
    const { sessions } = service;
    let lists = 0;
    service.sessions = (request) => {
      lists += 1;
      return sessions.call(service, request);
    };
    const find = async () => (await search.find({ ...USER, query: 'tea' })).hits.length;
    assert.deepEqual([await find(), await find(), lists], [0, 0, 1]);
    await service.appendEvent({ session, event: says('Tea') });
    assert.deepEqual([await find(), await find(), lists], [1, 1, 2]);
    await service.updateSession({ ...USER, sessionId: 's1' }, { title: 'Green tea' });
    assert.deepEqual([await find(), lists], [2, 3]);
    service.deleteSessionSync({ ...USER, sessionId: 's1' });
    assert.deepEqual([await find(), await find(), lists], [0, 0, 4]);
  });

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

  it('of a session with too many words stays incomplete after a shorter title', async () => {
    const service = new InMemorySessionService();
    const key = { ...USER, sessionId: 's1' };
    const session = await service.createSession({ ...key, title: 'Green '.repeat(20) });
    await service.appendEvents({ session, events: [says('tea '.repeat(300_000)), says('late')] });
    const search = sessionSearch(service);
    const isComplete = async () => (await search.find({ ...USER, query: 'late' })).isComplete;
    assert.equal(await isComplete(), false);
    await service.updateSession(key, { title: 'Tea' });
    assert.equal(await isComplete(), false);
  });

  it('finds all of each user, although more users search at once than stay in memory', async () => {
    const service = new InMemorySessionService();
    const search = sessionSearch(service);
    const users = Array.from({ length: 120 }, (_, at) => ({ appName: 'app', userId: `u${at}` }));
    for (const user of users) {
      const session = await service.createSession({ ...user, sessionId: 's1' });
      await service.appendEvent({ session, event: says('Tea') });
    }
    const found = await Promise.all(users.map((user) => search.find({ ...user, query: 'tea' })));
    for (const { hits, isComplete } of found)
      assert.deepEqual([hits.length, isComplete], [1, true]);
  });

  it('finds the others if the row of one session cannot be written', async () => {
    const sqlite = new Sqlite(':memory:');
    await using service = new DatabaseSessionService({ sqlite });
    for (const sessionId of ['s1', 's2', 's3']) {
      const session = await service.createSession({ ...USER, sessionId });
      await service.appendEvent({ session, event: says('Tea') });
    }
    sqlite.exec(`create trigger refuse before insert on adk_session_wasm_search
      when new.session_id = 's2' begin select raise(abort, 'too large'); end`);
    const { hits, isComplete } = await sessionSearch(service).find({ ...USER, query: 'tea' });
    assert.deepEqual(
      [hits.map(({ sessionId }) => sessionId).sort(), isComplete],
      [['s1', 's3'], false],
    );
  });

  it('keeps at most a megabyte of words of a session, in UTF-8', async () => {
    const sqlite = new Sqlite(':memory:');
    await using service = new DatabaseSessionService({ sqlite });
    const session = await service.createSession({ ...USER, sessionId: 's1' });
    await service.appendEvent({ session, event: says('茶'.repeat(700_000)) });
    const { hits, isComplete } = await sessionSearch(service).find({ ...USER, query: '茶' });
    assert.deepEqual([hits.length, isComplete], [1, false]);
    const bytes = 'select length(cast(words as blob)) from adk_session_wasm_search';
    const stored = Number(sqlite.prepare(bytes).pluck().get());
    assert.ok(stored > 1_000_000 && stored < 1_100_000, String(stored));
  });

  it('by a long query gives a statement no more values than Cloudflare allows', async () => {
    const driver = sqliteDriver(new Sqlite(':memory:'));
    const { read } = driver;
    driver.read = (statements) => {
      for (const { values } of statements) assert.ok(values.length <= 100, `${values.length}`);
      return read(statements);
    };
    await using service = new DatabaseSessionService({ driver, engine: 'sqlite' });
    const words = Array.from({ length: 105 }, (_, at) => `w${at}`);
    for (const [sessionId, text] of Object.entries({
      all: words,
      others: words.slice(0, -1),
    })) {
      const session = await service.createSession({ ...USER, sessionId });
      await service.appendEvent({ session, event: says(text.join(' ')) });
    }
    const search = sessionSearch(service);
    const found = async (query: string) => {
      const { hits, isComplete } = await search.find({ ...USER, query });
      return [hits.map(({ sessionId }) => sessionId).sort(), isComplete];
    };
    assert.deepEqual(await found(words.join(' ')), [['all'], true]);
    assert.deepEqual(await found('w0 '.repeat(150)), [['all', 'others'], true]);
    const { memories } = await search
      .asMemoryService()
      .searchMemory({ ...USER, query: `${words.join(' ')} more` });
    assert.equal(memories.length, 2);
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

  it('over a database shows no title of a session that the service hides, and the title that it shows', async () => {
    await using service = new DatabaseSessionService('sqlite::memory:');
    for (const sessionId of ['hidden', 'renamed', 's1']) {
      await service.createSession({ ...USER, sessionId, title: 'Tea' });
    }
    const { getSession } = service;
    service.getSession = async (request) => {
      if (request.sessionId === 'hidden') return undefined;
      const session = await getSession.call(service, request);
      if (session?.id === 'renamed') session.title = 'Coffee';
      return session;
    };
    const { hits, isComplete } = await sessionSearch(service).find({ ...USER, query: 'tea' });
    assert.deepEqual([namesOf(hits), isComplete], [['s1/title'], true]);
  });

  it('through a cache has the hits of the remote, and before them those of unsent changes', async () => {
    const server = new Server();
    for (const sessionId of ['old', 'renamed', 'gone', 'both']) {
      const session = await server.service.createSession({ ...SHOP, sessionId });
      const event = { ...says('Green tea'), id: `first of ${sessionId}`, invocationId: 'i1' };
      await server.service.appendEvent({ session, event });
    }
    const { cache } = openCache(server);
    const search = sessionSearch(cache);
    const found = async (query = 'tea', limit = 20) => {
      const { hits, isComplete } = await search.find({ ...SHOP, query, limit });
      return { hits: namesOf(hits), isComplete };
    };
    const all = ['old', 'renamed', 'gone', 'both'].map((id) => `${id}/first of ${id}`);
    const first = await found();
    assert.deepEqual([first.hits.sort(), first.isComplete], [[...all].sort(), true]);
    const session = (await cache.getSession({ ...SHOP, sessionId: 'both' }))!;
    for (const sessionId of ['renamed', 'gone']) await cache.getSession({ ...SHOP, sessionId });
    await cache.sync();
    // The remote answers searches, and no write.
    let release = (): void => undefined;
    const released = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    server.intercept = (request) =>
      request.method === 'GET' ? Promise.resolve(undefined) : released;
    await cache.appendEvent({ session, event: { ...says('Black tea'), id: 'unsent' } });
    await cache.updateSession({ ...SHOP, sessionId: 'renamed' }, { title: 'Teapot' });
    await cache.deleteSession({ ...SHOP, sessionId: 'gone' });
    const { hits, isComplete } = await found();
    assert.deepEqual(hits.slice(0, 2), ['both/unsent', 'both/first of both']);
    assert.deepEqual(hits.slice(2).sort(), [
      'old/first of old',
      'renamed/first of renamed',
      'renamed/title',
    ]);
    assert.equal(isComplete, true);
    assert.deepEqual((await found('black')).hits, ['both/unsent']);
    // Those that are unsent come on the first page, also beyond its limit.
    assert.equal((await found('tea', 2)).hits.filter((hit) => !hit.startsWith('old')).length, 4);
    const searches = server.requests.filter((request) => request.endsWith('/search'));
    assert.equal(searches.length, 4);
    // Nor does a later page have them again, or what was deleted here.
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await search.find({ ...SHOP, query: 'tea', limit: 1, cursor });
      paged.push(...namesOf(page.hits));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(paged.sort(), [...hits].sort());
    release();
  });

  it('through a cache without a connection finds what the copies have and what is unsent', async () => {
    const server = new Server();
    const long = await server.service.createSession({ ...SHOP, sessionId: 'long' });
    const events = Array.from({ length: 300 }, (_, at) => says(`Tea number ${at}`));
    await server.service.appendEvents({ session: long, events });
    const { cache } = openCache(server);
    const session = await cache.createSession({ ...SHOP, sessionId: 's1' });
    await cache.appendEvent({ session, event: says('Green tea') });
    await cache.getSession({ ...SHOP, sessionId: 'long', config: { numRecentEvents: 2 } });
    await cache.sync();
    const search = sessionSearch(cache);
    server.isOffline = true;
    await cache.appendEvent({ session, event: says('Black tea') });
    const { hits, isComplete } = await search.find({ ...SHOP, query: 'tea' });
    const ofSession = (id: string) => hits.filter(({ sessionId }) => sessionId === id).length;
    assert.deepEqual([ofSession('s1'), ofSession('long'), isComplete], [2, 5, false]);
    const first = await search.find({ ...SHOP, query: '"tea number 0"' });
    assert.deepEqual([first.hits, first.isComplete], [[], false]);
    await cache.forget();
    assert.deepEqual((await search.find({ ...SHOP, query: 'tea' })).hits, []);
  });

  it(
    'through a cache answers from the copies while the remote repeats the first failed search',
    { timeout: 10_000 },
    async () => {
      const server = new Server();
      // A search that waited for the remote would end at the test's timeout.
      const remote = server.client(5);
      const { cache } = openCache(server, { remote, readTimeoutMs: 600_000 });
      const session = await cache.createSession({ ...SHOP, sessionId: 's1' });
      await cache.appendEvent({ session, event: says('Green tea') });
      await cache.sync();
      const other = await server.service.createSession({ ...SHOP, sessionId: 's2' });
      await server.service.appendEvent({ session: other, event: says('Black tea') });
      let attempts = 0;
      let answer = (): void => undefined;
      const answered = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
      server.intercept = ({ url }) => {
        if (!new URL(url).pathname.endsWith('/search')) return Promise.resolve(undefined);
        attempts += 1;
        return attempts === 1 ? Promise.reject(new TypeError('fetch failed')) : answered;
      };
      const search = sessionSearch(cache);
      const found = await search.find({ ...SHOP, query: 'tea' });
      assert.deepEqual(
        [found.hits.map(({ sessionId }) => sessionId), found.isComplete],
        [['s1'], false],
      );
      // The cache is still online: the second attempt tells whether it is.
      answer();
      const { hits, isComplete } = await search.find({ ...SHOP, query: 'tea' });
      assert.deepEqual([hits.length, isComplete], [2, true]);
      assert.equal(attempts, 3);
    },
  );

  it('through a cache without a connection asks for nothing but the search, and for that only until it is known', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    for (const sessionId of ['s1', 's2', 's3']) {
      const session = await server.service.createSession({ ...SHOP, sessionId });
      const events = Array.from({ length: 30 }, (_, at) => says(`Tea number ${at}`));
      await server.service.appendEvents({ session, events });
      await cache.getSession({ ...SHOP, sessionId, config: { numRecentEvents: 2 } });
    }
    await cache.sync();
    let attempts = 0;
    const get = (): boolean => {
      attempts += 1;
      return true;
    };
    Object.defineProperty(server, 'isOffline', { get });
    const search = sessionSearch(cache);
    for (const query of ['tea', 'number', 'tea number']) {
      const { hits, isComplete } = await search.find({ ...SHOP, query });
      assert.deepEqual([hits.length, isComplete], [15, false]);
    }
    // The feed of the cache may try too.
    assert.ok(attempts <= 2, `${attempts} attempts`);
  });
});
