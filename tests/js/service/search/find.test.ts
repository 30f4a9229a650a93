import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import {
  createEvent,
  type Event,
  InMemorySessionService,
  type Part,
  type SessionService,
} from '../../../../js/index.js';
import { type SearchHit, sessionSearch } from '../../../../js/service/search/index.js';
import { failsWith } from '../../fails_with.js';
import { imported, overStorages, says, USER } from '../fixture.js';

const KEY = { ...USER, sessionId: 's1' };

async function create(service: SessionService, sessionId: string, ...events: Event[]) {
  const session = await service.createSession(imported({ ...USER, sessionId, lastUpdateTime: 0 }));
  if (events.length > 0) await service.appendEvents({ session, events });
  return session;
}

const at = (timestamp: number, text: string, author = 'user'): Event =>
  createEvent({ id: `e${timestamp}`, timestamp, author, content: { parts: [{ text }] } });

const names = (hits: readonly SearchHit[]): string[] =>
  hits.map(({ sessionId, eventId = 'title' }) => `${sessionId}/${eventId}`);

overStorages('A search', (open) => {
  it('finds what was appended, replaced and deleted since the last search', async () => {
    const service = await open();
    const search = sessionSearch(service);
    const found = async (query: string) => {
      const { hits, isComplete } = await search.find({ ...USER, query });
      assert.ok(isComplete);
      return names(hits);
    };
    assert.deepEqual(await found('tea'), []);
    const session = await create(service, 's1', at(1, 'Green tea'));
    await create(service, 's2', at(2, 'Black tea'));
    assert.deepEqual(await found('tea'), ['s2/e2', 's1/e1']);
    await service.appendEvent({ session, event: at(3, 'More tea', 'agent') });
    await service.appendEvent({ session, event: at(1, 'Coffee') });
    assert.deepEqual(await found('tea'), ['s1/e3', 's2/e2']);
    assert.deepEqual(await found('coffee'), ['s1/e1']);
    await service.deleteSession(KEY);
    assert.deepEqual(await found('tea'), ['s2/e2']);
    await create(service, 's1', at(9, 'Cocoa'));
    assert.deepEqual(await found('coffee'), []);
    assert.deepEqual(await found('cocoa'), ['s1/e9']);
  });

  it('does not find what a rewind has undone, until that is undone too', async () => {
    const service = await open();
    const search = sessionSearch(service);
    const session = await service.createSession(KEY);
    const event = { ...says('Green tea'), invocationId: 'i1' };
    await service.appendEvent({ session, event });
    const count = async () => (await search.find({ ...USER, query: 'tea' })).hits.length;
    assert.equal(await count(), 1);
    await rewind(service, { ...KEY, before: { invocationId: 'i1' } });
    assert.equal(await count(), 0);
    await undoRewind(service, KEY);
    assert.equal(await count(), 1);
  });
});

describe('A search', () => {
  const five = async (): Promise<SessionService> => {
    const service = new InMemorySessionService();
    await create(service, 's1', ...[1, 2, 3, 4, 5, 6, 7].map((time) => at(time, 'tea')));
    await create(service, 's2', at(8, 'Tea?'), at(9, 'No tea', 'agent'));
    await service.updateSession({ ...USER, sessionId: 's2' }, { title: 'Tea', labels: { a: '1' } });
    return service;
  };

  it('gives the sessions that were updated last first, in each the title and then five hits at most', async () => {
    const { hits, nextCursor } = await sessionSearch(await five()).find({ ...USER, query: 'tea' });
    assert.deepEqual(names(hits), [
      ...['s2/title', 's2/e9', 's2/e8'],
      ...['s1/e7', 's1/e6', 's1/e5', 's1/e4', 's1/e3'],
    ]);
    assert.equal(nextCursor, undefined);
    assert.deepEqual(hits[1], {
      sessionId: 's2',
      title: 'Tea',
      eventId: 'e9',
      author: 'agent',
      timestamp: 9,
      snippet: [
        { text: 'No ', isHit: false },
        { text: 'tea', isHit: true },
      ],
    });
  });

  it('gives the same hits page by page', async () => {
    const search = sessionSearch(await five());
    const { hits: all } = await search.find({ ...USER, query: 'tea' });
    for (const limit of [1, 2, 3, 5]) {
      const hits: SearchHit[] = [];
      let cursor: string | undefined;
      do {
        const page = await search.find({ ...USER, query: 'tea', limit, cursor });
        assert.ok(page.hits.length <= limit);
        hits.push(...page.hits);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      assert.deepEqual(hits, all);
    }
  });

  it('is limited to a session, an author, a time and labels', async () => {
    const search = sessionSearch(await five());
    const found = async (filter: object) =>
      names((await search.find({ ...USER, query: 'tea', ...filter })).hits);
    assert.equal((await found({ sessionId: 's1' })).length, 7);
    assert.deepEqual(await found({ author: 'agent' }), ['s2/e9']);
    assert.deepEqual(await found({ after: 7, before: 9 }), ['s2/e8', 's1/e7']);
    assert.equal((await found({ labels: { a: '1' } })).length, 3);
    assert.deepEqual(await found({ labels: { a: '2' } }), []);
    assert.deepEqual(await found({ userId: 'other' }), []);
  });

  it('finds all words in one event, and not in several', async () => {
    const service = new InMemorySessionService();
    await create(service, 's1', at(1, 'green'), at(2, 'tea'), at(3, 'tea, green'));
    const { hits } = await sessionSearch(service).find({ ...USER, query: 'green tea' });
    assert.deepEqual(names(hits), ['s1/e3']);
  });

  it('finds texts and the names of files, but no thoughts, calls, responses and states', async () => {
    const service = new InMemorySessionService();
    const parts: Part[] = [
      { text: 'secret', thought: true },
      { functionCall: { name: 'secret', args: { secret: 'secret' } } },
      { functionResponse: { name: 'secret', response: { secret: 'secret' } } },
      { text: 'visible' },
      { inlineData: { displayName: 'Leaves.pdf', mimeType: 'secret', data: 'secret' } },
      { fileData: { fileUri: 'gs://secret/menu.pdf' } },
    ];
    const event = createEvent({ id: 'e1', content: { parts } });
    event.actions.stateDelta.secret = 'secret';
    await create(service, 's1', event);
    const search = sessionSearch(service);
    for (const query of ['visible', 'leaves', '"menu pdf"']) {
      assert.equal((await search.find({ ...USER, query })).hits.length, 1, query);
    }
    assert.deepEqual((await search.find({ ...USER, query: 'secret' })).hits, []);
  });

  it('finds a session by its new title, and not by the one before', async () => {
    const service = new InMemorySessionService();
    const search = sessionSearch(service);
    await service.createSession({ ...KEY, title: 'Tea' });
    const found = async (query: string) => names((await search.find({ ...USER, query })).hits);
    assert.deepEqual(await found('tea'), ['s1/title']);
    await service.updateSession(KEY, { title: 'Coffee' });
    assert.deepEqual(await found('tea'), []);
    assert.deepEqual(await found('coffee'), ['s1/title']);
    await service.updateSession(KEY, { title: null });
    assert.deepEqual(await found('coffee'), []);
  });

  it('reads no session again that has not changed, and of others the changes alone', async () => {
    const service = await five();
    const search = sessionSearch(service);
    const calls: string[] = [];
    const { getSession, listChanges } = service;
    service.getSession = (request) => {
      calls.push(`getSession ${request.sessionId}`);
      return getSession.call(service, request);
    };
    service.listChanges = (request) => {
      calls.push(`listChanges ${request.sessionId}`);
      return listChanges.call(service, request);
    };
    const seen = async () => {
      await search.find({ ...USER, query: 'nothing' });
      return calls.splice(0);
    };
    assert.deepEqual(await seen(), ['getSession s2', 'getSession s1']);
    assert.deepEqual(await seen(), []);
    const session = (await service.getSession(KEY))!;
    await service.appendEvent({ session, event: at(10, 'more') });
    calls.length = 0;
    assert.deepEqual(await seen(), ['listChanges s1']);
  });

  it('is not complete if a session cannot be read, and finds the others', async () => {
    const service = await five();
    const { getSession } = service;
    service.getSession = (request) => {
      if (request.sessionId === 's1') throw new Error('it is damaged');
      return getSession.call(service, request);
    };
    const search = sessionSearch(service);
    const { hits, isComplete } = await search.find({ ...USER, query: 'tea' });
    assert.deepEqual(names(hits), ['s2/title', 's2/e9', 's2/e8']);
    assert.equal(isComplete, false);
    service.getSession = getSession;
    assert.equal((await search.find({ ...USER, query: 'tea' })).isComplete, true);
  });

  it('is not complete if a session has more than a megabyte of words', async () => {
    const service = new InMemorySessionService();
    await create(service, 's1', at(1, 'tea '.repeat(300_000)), at(2, 'late'));
    const { hits, isComplete } = await sessionSearch(service).find({ ...USER, query: 'tea' });
    assert.deepEqual(names(hits), ['s1/e1']);
    assert.equal(isComplete, false);
  });

  it('waits two seconds for the index, which goes on meanwhile', async (t) => {
    const service = await five();
    const { getSession } = service;
    let resolve = (): void => undefined;
    const opened = new Promise<void>((open) => (resolve = open));
    service.getSession = async (request) => {
      if (request.config?.view === 'raw' && request.sessionId === 's1') await opened;
      return getSession.call(service, request);
    };
    const behind: Promise<unknown>[] = [];
    const search = sessionSearch(service, { waitUntil: (work) => behind.push(work) });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const first = search.find({ ...USER, query: 'tea' });
    for (let turns = 0; turns < 100; turns += 1) await Promise.resolve();
    t.mock.timers.tick(2000);
    const { hits, isComplete } = await first;
    assert.deepEqual(names(hits), ['s2/title', 's2/e9', 's2/e8']);
    assert.equal(isComplete, false);
    assert.equal(behind.length, 1);
    resolve();
    await behind[0];
    const later = await search.find({ ...USER, query: 'tea' });
    assert.equal(later.isComplete, true);
    assert.equal(later.hits.length, 8);
  });

  it('ends with its signal, and the index of others goes on', async () => {
    const service = await five();
    const search = sessionSearch(service);
    const aborted = search.find({ ...USER, query: 'tea', signal: AbortSignal.abort() });
    await assert.rejects(aborted, failsWith('aborted'));
    assert.equal((await search.find({ ...USER, query: 'tea' })).hits.length, 8);
  });

  it('refuses a request that cannot be meant', async () => {
    const search = sessionSearch(await five());
    const { nextCursor } = await search.find({ ...USER, query: 'tea', limit: 1 });
    const requests: [string, object][] = [
      ['query', { query: 'a'.repeat(513) }],
      ['query', { query: ' %_ ' }],
      ['query', { query: undefined }],
      ['userId', { userId: '' }],
      ['sessionId', { sessionId: '' }],
      ['author', { author: 1 }],
      ['after', { after: -1 }],
      ['before', { before: '1' }],
      ['labels', { labels: { A: '1' } }],
      ['limit', { limit: 101 }],
      ['limit', { limit: 0 }],
      ['cursor', { cursor: nextCursor, query: 'green' }],
    ];
    for (const [key, part] of requests) {
      const found = search.find({ ...USER, query: 'tea', ...part });
      await assert.rejects(found, failsWith('invalid_argument', new RegExp(`^${key}`)));
    }
    assert.equal((await search.find({ ...USER, query: '🍵 tea'.padEnd(512) })).hits.length, 8);
    assert.throws(() => sessionSearch({} as SessionService), failsWith('invalid_argument'));
  });
});
