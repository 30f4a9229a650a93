// Searches over the table of words of a database.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind, undoRewind } from '../../../../../js/core/history/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { type SessionSearch, sessionSearch } from '../../../../../js/service/search/index.js';
import { requireSearches } from '../../../service/search/searches.js';
import { says } from '../../../service/fixture.js';
import { linesOf, startProgram } from './programs.js';

const USER = { appName: 'app', userId: 'user' };

/** Counts the sessions that a service reads as a whole for its rows of words, and the changes that it reads. */
function countReads(service: DatabaseSessionService) {
  const read = { raw: [] as string[], changes: 0 };
  const { getSession, listChanges } = service;
  service.getSession = (request) => {
    if (request.config?.view === 'raw') read.raw.push(request.sessionId);
    return getSession.call(service, request);
  };
  service.listChanges = (request) => {
    read.changes += 1;
    return listChanges.call(service, request);
  };
  return read;
}

/**
 * @param newUrl gives a database without tables
 * @param rows runs a statement, and returns the rows of a query
 */
export function searches(
  title: string,
  newUrl: () => Promise<string> | string,
  rows: (url: string, statement: string) => Promise<unknown>,
): void {
  const counted = async (url: string): Promise<number> => {
    const [row] = (await rows(url, 'select count(*) as n from adk_session_wasm_search')) as [
      { n: number | string },
    ];
    return Number(row.n);
  };
  const create = async (service: DatabaseSessionService, sessionId: string, text: string) => {
    const session = await service.createSession({ ...USER, sessionId });
    await service.appendEvent({ session, event: { ...says(text), invocationId: 'i1' } });
    return session;
  };
  /** Returns the ids of the sessions with hits, which must be all of them. */
  const found = async (search: SessionSearch, query: string): Promise<string[]> => {
    // A server of the tests may be busy: a search ends after two seconds.
    let { hits, isComplete } = await search.find({ ...USER, query, limit: 100 });
    for (let again = 0; again < 20 && !isComplete; again += 1) {
      ({ hits, isComplete } = await search.find({ ...USER, query, limit: 100 }));
    }
    assert.ok(isComplete);
    return [...new Set(hits.map(({ sessionId }) => sessionId))].sort();
  };

  describe(`A search over ${title}`, () => {
    it('finds the same texts by queries in five languages', async () => {
      await requireSearches(new DatabaseSessionService(await newUrl()));
    });

    it('finds what others have written, renamed, replaced, undone and deleted meanwhile', async () => {
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      await using other = new DatabaseSessionService(url);
      const search = sessionSearch(service);
      const session = await create(other, 's1', 'Green tea');
      await create(other, 's2', 'Black tea');
      assert.deepEqual(await found(search, 'tea'), ['s1', 's2']);
      await other.updateSession({ ...USER, sessionId: 's1' }, { title: 'Größe' });
      assert.deepEqual(await found(search, 'GROSSE'), ['s1']);
      await other.updateSession({ ...USER, sessionId: 's1' }, { title: null });
      assert.deepEqual(await found(search, 'grosse'), []);
      await rewind(other, { ...USER, sessionId: 's1', before: { invocationId: 'i1' } });
      assert.deepEqual(await found(search, 'tea'), ['s2']);
      await undoRewind(other, { ...USER, sessionId: 's1' });
      assert.deepEqual(await found(search, 'tea'), ['s1', 's2']);
      await other.appendEvent({ session, event: { ...session.events[0]!, content: {} } });
      assert.deepEqual(await found(search, 'tea'), ['s2']);
      await rows(url, "delete from events where session_id = 's2'");
      await rows(url, "delete from adk_session_wasm_search where session_id = 's2'");
      await rows(url, "delete from sessions where id = 's2'");
      assert.deepEqual(await found(search, 'tea'), []);
    });

    it('reads a session once, and its row serves other processes', async () => {
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      await create(service, 's1', 'Green tea');
      await create(service, 's2', 'Coffee');
      assert.deepEqual(await found(sessionSearch(service), 'tea'), ['s1']);
      await using other = new DatabaseSessionService(url);
      const { getSession } = other;
      const read: unknown[] = [];
      other.getSession = (request) => {
        read.push([request.sessionId, request.config?.view]);
        return getSession.call(other, request);
      };
      assert.deepEqual(await found(sessionSearch(other), 'tea'), ['s1']);
      assert.deepEqual(read, [['s1', 'transcript']]);
    });

    it('leaves no row of a session or a user that is deleted, by whomever', async () => {
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      for (const sessionId of ['s1', 's2', 's3', 's4']) await create(service, sessionId, 'Tea');
      const search = sessionSearch(service);
      await search
        .asMemoryService({ remembers: 'added' })
        .addSessionToMemory({ ...USER, id: 's4' });
      assert.deepEqual(await found(search, 'tea'), ['s1', 's2', 's3', 's4']);
      assert.equal(await counted(url), 4);
      await service.deleteSession({ ...USER, sessionId: 's1' });
      assert.equal(await counted(url), 3);
      await service.deleteSessions({ ...USER, olderThan: Date.now() + 1000 });
      assert.equal(await counted(url), 0);
      await create(service, 's1', 'Tea');
      assert.deepEqual(await found(search, 'tea'), ['s1']);
      // As Python deletes a session: its foreign keys are enforced, and it knows no table of ours.
      await rows(url, "delete from sessions where id = 's1'");
      assert.equal(await counted(url), 0);
      await create(service, 's2', 'Tea');
      assert.deepEqual(await found(search, 'tea'), ['s2']);
      await service.deleteUser(USER);
      assert.equal(await counted(url), 0);
    });

    it('takes a hostile query for text', async () => {
      await using service = new DatabaseSessionService(await newUrl());
      await create(service, 's1', `100 %, a_b, it's "quoted" \\ or 1=1 -- NEAR * ? $1 :a`);
      await create(service, 's2', 'nothing');
      const search = sessionSearch(service);
      for (const query of [
        '100%',
        'a_b',
        "it's",
        '"quoted or 1 1"',
        'or 1=1 --',
        '\\or',
        '$1',
        ':a',
      ]) {
        assert.deepEqual(await found(search, query), ['s1'], query);
      }
      for (const query of ["x' or '1'='1", 'n%g', 'n_thing', 'quoted*nothing', 'not OR nothing']) {
        assert.deepEqual(await found(search, query), [], query);
      }
    });

    it('finds all, although two processes catch up at once and one is killed meanwhile', async () => {
      const COUNT = 60;
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      for (let at = 0; at < COUNT; at += 1) await create(service, `s${at}`, 'tea');
      const killed = startProgram('searches', url);
      const lines = await linesOf(killed, (_, { length }) => {
        if (length === 24) killed.kill('SIGKILL');
      });
      assert.ok(lines.length >= 24);
      const stored = await counted(url);
      assert.ok(stored < COUNT, `${stored} rows`);
      await using other = new DatabaseSessionService(url);
      const all = await Promise.all(
        [service, other].map((each) => found(sessionSearch(each), 'tea')),
      );
      assert.deepEqual(
        all.map(({ length }) => length),
        [20, 20].map(() => COUNT),
      );
      assert.equal(await counted(url), COUNT);
    });

    it('of a memory finds the sessions that were added, also after these have changed', async () => {
      await using service = new DatabaseSessionService(await newUrl());
      const session = await create(service, 's1', 'Green tea');
      await create(service, 's2', 'Black tea');
      const memory = sessionSearch(service).asMemoryService({ remembers: 'added' });
      const remembered = async (query: string) => {
        const { memories } = await memory.searchMemory({ ...USER, query });
        return memories.map(({ content }) => content.parts?.[0]?.text).sort();
      };
      assert.deepEqual(await remembered('tea'), []);
      await memory.addSessionToMemory(session);
      const answer = { ...says('Fine'), author: 'agent', invocationId: 'i1' };
      await service.appendEvent({ session, event: answer });
      assert.deepEqual(await remembered('tea'), ['Green tea']);
      await service.appendEvent({ session, event: says('White tea') });
      assert.deepEqual(await remembered('any white tea'), ['Green tea', 'White tea']);
      await memory.addSessionToMemory({ ...USER, id: 'gone' });
      assert.deepEqual(await remembered('gone'), []);
    });

    it('reads what was appended since the last one alone, also if that comes again', async () => {
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      const session = await create(service, 's1', 'Green tea');
      await service.appendEvents({
        session,
        events: Array.from({ length: 300 }, (_, at) => says(`number ${at}`)),
      });
      const search = sessionSearch(service);
      assert.deepEqual(await found(search, 'green'), ['s1']);
      const read = countReads(service);
      // All of it within the ten seconds that the changes are read from.
      for (let at = 0; at < 5; at += 1) {
        await service.appendEvent({ session, event: says(`White tea ${at}`) });
        assert.deepEqual(await found(search, `"white tea ${at}"`), ['s1']);
      }
      assert.deepEqual(read.raw, []);
      assert.equal(read.changes, 5);
      const [{ words }] = (await rows(url, 'select words from adk_session_wasm_search')) as [
        { words: string },
      ];
      assert.equal(words.split('\n').length, 1 + 301 + 5);
    });

    it('finds an event that was stored with a clock far behind', async () => {
      const url = await newUrl();
      await using service = new DatabaseSessionService(url);
      const session = await create(service, 's1', 'Green tea');
      await service.appendEvents({ session, events: [says('Coffee'), says('Cocoa')] });
      const search = sessionSearch(service);
      assert.deepEqual(await found(search, 'green'), ['s1']);
      // It comes from elsewhere: its place is before all events that the changes are read from.
      const other = await create(service, 's2', 'Early bird');
      const early = "session_id = 's1', timestamp = '2001-01-01 00:00:00'";
      await rows(url, `update events set ${early} where session_id = '${other.id}'`);
      await service.appendEvent({ session, event: says('Water') });
      assert.deepEqual(await found(search, 'early'), ['s1']);
    });

    it('keeps the newest words of a session with more than a megabyte of them', async () => {
      await using service = new DatabaseSessionService(await newUrl());
      const session = await create(service, 's1', 'oldest');
      const long = 'green tea '.repeat(30_000);
      await service.appendEvents({ session, events: [1, 2, 3, 4].map(() => says(long)) });
      const search = sessionSearch(service);
      const find = async (query: string) => {
        const { hits, isComplete } = await search.find({ ...USER, query });
        return [hits.length, isComplete];
      };
      assert.deepEqual(await find('oldest'), [0, false]);
      const read = countReads(service);
      await service.appendEvent({ session, event: says('newest') });
      assert.deepEqual(await find('newest'), [1, false]);
      assert.deepEqual(read.raw, []);
    });

    it('cuts the words of a session at a megabyte, and says so', async () => {
      await using service = new DatabaseSessionService(await newUrl());
      const session = await create(service, 's1', '緑茶 '.repeat(400_000));
      await service.appendEvent({ session, event: says('late') });
      const { hits, isComplete } = await sessionSearch(service).find({ ...USER, query: '緑茶' });
      assert.deepEqual([hits.length, isComplete], [1, false]);
    });
  });
}
