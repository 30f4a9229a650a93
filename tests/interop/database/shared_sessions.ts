// One database, two services: this package's and that of google-adk for Python. The gate runs it on a SQLite file, the rest
// on the other engines.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { sessionSearch } from '../../../js/service/search/index.js';
import { State, type Session, type StateShape } from '../../../js/index.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';
import { countIn, type NewDatabase } from './shared_databases.js';

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

export function sharedSessions(title: string, start: () => NewDatabase): void {
  describe(`On ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    let service: DatabaseSessionService;
    let urls: Awaited<ReturnType<typeof newDatabase>>;
    beforeEach(async () => {
      urls = await newDatabase();
      service = new DatabaseSessionService(urls.ours);
      await python.open(urls.python);
    });
    afterEach(() => service.close());

    it("the package continues Python's sessions, and Python the package's", async () => {
      const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW', gone: 1 };
      await python.ask('create', { ...PYTHON_KEY, state });
      await python.ask('append', pythonEvent('one', { topic: 'milk' }));

      const session = await service.getSession(KEY);
      assert.ok(session);
      assert.deepEqual(session.state, { ...state, topic: 'milk' });
      assert.deepEqual(session.events.map(firstText), ['one']);
      await service.appendEvent({
        session,
        event: userEvent('two', { gone: State.REMOVED, 'app:n': 1 }),
      });

      const left = { topic: 'milk', 'user:name': 'Ada', 'app:currency': 'KRW', 'app:n': 1 };
      const inPython = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(inPython.state, left);
      assert.deepEqual(inPython.events.map(firstText), ['one', 'two']);
      assert.deepEqual(inPython.events[1]?.actions.stateDelta, { gone: null, 'app:n': 1 });
      const appended = await python.ask('append', pythonEvent('three', { 'user:name': 'Eve' }));
      assert.equal(appended.error, undefined);

      const again = await service.getSession(KEY);
      assert.deepEqual(again?.events.map(firstText), ['one', 'two', 'three']);
      assert.deepEqual(again?.state, { ...left, 'user:name': 'Eve' });
      assert.deepEqual(again?.events[1]?.actions.stateDelta, { gone: State.REMOVED, 'app:n': 1 });
    });

    it('a search finds what Python has written, before it and between two searches', async () => {
      const search = sessionSearch(service);
      const { appName, userId } = KEY;
      const found = async (query: string) => {
        const { hits, isComplete } = await search.find({ appName, userId, query });
        assert.ok(isComplete);
        return hits.map(({ snippet }) => snippet.map(({ text }) => text).join(''));
      };
      await python.ask('create', PYTHON_KEY);
      await python.ask('append', pythonEvent('녹차를 추천해요'));
      assert.deepEqual(await found('녹차'), ['녹차를 추천해요']);
      const appended = await python.ask('append', pythonEvent('Grüner Tee'));
      assert.equal(appended.error, undefined);
      assert.deepEqual(await found('gruner'), ['Grüner Tee']);
      assert.deepEqual(await found('녹차'), ['녹차를 추천해요']);
    });

    it('the words of a session go when Python deletes it', async () => {
      await python.ask('create', PYTHON_KEY);
      await python.ask('append', pythonEvent('Green tea'));
      const { appName, userId } = KEY;
      const find = () => sessionSearch(service).find({ appName, userId, query: 'tea' });
      assert.equal((await find()).hits.length, 1);
      const query = 'select count(*) from adk_session_wasm_search';
      assert.equal(await countIn(urls, query), 1);
      await python.ask('delete', PYTHON_KEY);
      assert.equal(await countIn(urls, query), 0);
      assert.deepEqual(await find(), { hits: [], isComplete: true });
    });

    it('both sides read events of equal and of earlier times in one order, in windows too', async () => {
      await python.ask('create', PYTHON_KEY);
      const events = [
        ['z', 1000],
        ['m', 1000],
        ['a', 1000],
        ['early', 500],
      ] as const;
      for (const [id, seconds] of events) {
        await python.ask('append', { ...pythonEvent(id, {}, seconds), id });
      }
      const session = await service.getSession(KEY);
      assert.ok(session);
      const last = { ...userEvent('ours'), id: 'b', timestamp: 1e6 };
      await service.appendEvent({ session, event: last });
      for (const count of [5, 4, 3, 2, 1]) {
        const config = { num_recent_events: count };
        const theirs = await python.ask('get', { ...PYTHON_KEY, config });
        const ours = await service.getSession({ ...KEY, config: { numRecentEvents: count } });
        assert.deepEqual(ours?.events.map(firstText), theirs.events.map(firstText));
        assert.equal(ours.events.at(-1)?.id, 'b');
      }
    });

    it('Python reads the events of createSession in their order, whatever their times', async () => {
      const times = [3000, 3000, 3000, 2000, 1000, 1000, 5000];
      const texts = times.map((_, number) => `event ${number}`);
      const events = times.map((timestamp, number) => ({
        ...userEvent(texts[number] ?? ''),
        timestamp,
      }));
      await service.createSession({ ...KEY, events });
      const { events: read } = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(read.map(firstText), texts);
      assert.deepEqual(
        read.map(({ timestamp }) => timestamp * 1000),
        times,
      );
      // Python orders by this column alone.
      const query = 'select count(distinct timestamp) as count from events';
      assert.equal(await countIn(urls, query), times.length);
      assert.equal((await python.ask('append', pythonEvent('theirs'))).error, undefined);
      const both = [...texts, 'theirs'];
      assert.deepEqual((await service.getSession(KEY))?.events.map(firstText), both);
      assert.deepEqual((await python.ask('get', PYTHON_KEY)).events.map(firstText), both);
    });

    it('counts go on from what Python wrote between the calls', async () => {
      await python.ask('create', { ...PYTHON_KEY, state: { n: 1, 'user:n': 1, 'app:n': 1 } });
      const names = ['n', 'user:n', 'app:n'];
      const stateDelta = (state: StateShape) =>
        Object.fromEntries(names.map((name) => [name, Number(state[name]) + 1]));
      for (let sum = 2; sum < 20; sum += 2) {
        await service.updateState({ ...KEY, stateDelta });
        const { state } = await python.ask('get', PYTHON_KEY);
        assert.deepEqual(state, { n: sum, 'user:n': sum, 'app:n': sum });
        const added = Object.fromEntries(names.map((name) => [name, sum + 1]));
        const { error } = await python.ask('append', pythonEvent('', added));
        assert.equal(error, undefined);
      }
      const session = await service.getSession(KEY);
      assert.deepEqual(session?.state, { n: 19, 'user:n': 19, 'app:n': 19 });
      assert.equal(session.events.length, 18);
    });

    it("Python reads the package's sessions, and fields unknown to it survive", async () => {
      const session = await service.createSession({ ...KEY, state: { 'user:n': 1, k: null } });
      const event = {
        ...userEvent('one'),
        myField: { a_b: 1 },
        content: { parts: [{ text: 'one', newKind: { x: 1 } }], role: 'user' },
        usageMetadata: { promptTokenCount: 3, newCount: 5 },
      };
      await service.appendEvent({ session, event });

      const inPython = await python.ask('get', PYTHON_KEY);
      assert.deepEqual(inPython.state, { 'user:n': 1, k: null });
      const [read] = inPython.events;
      assert.deepEqual(read?.content, { parts: [{ text: 'one' }], role: 'user' });
      assert.deepEqual(read.usageMetadata, { promptTokenCount: 3 });
      assert.equal(read.id, event.id);
      assert.equal(read.timestamp, event.timestamp / 1000);
      assert.equal((await python.ask('append', pythonEvent('two', { k: 2 }))).error, undefined);

      const again = await service.getSession(KEY);
      assert.deepEqual(again?.events[0], event);
      assert.deepEqual(again?.state, { 'user:n': 1, k: 2 });
    });

    it('a session that Python deletes and makes again under its id inherits no title', async () => {
      const description = { title: 'Green tea', labels: { pinned: 'yes' } };
      await service.createSession({ ...KEY, ...description });
      assert.equal((await python.ask('get', PYTHON_KEY)).events.length, 0);
      assert.equal((await service.getSession(KEY))?.title, 'Green tea');
      await python.ask('delete', PYTHON_KEY);
      await python.ask('create', { ...PYTHON_KEY, state: {} });
      const bare = await service.getSession(KEY);
      assert.deepEqual([bare?.title, bare?.labels], [undefined, undefined]);
      const { sessions } = await service.listSessions({ appName: KEY.appName });
      assert.deepEqual(
        sessions.map(({ title }) => title),
        [undefined],
      );
      await service.updateSession(KEY, { labels: { a: '1' } });
      const again = await service.getSession(KEY);
      assert.deepEqual([again?.title, again?.labels], [undefined, { a: '1' }]);
      const appended = await python.ask('append', pythonEvent('one', { k: 2 }));
      assert.equal(appended.error, undefined);
      assert.deepEqual((await service.getSession(KEY))?.labels, { a: '1' });
    });

    it("the info of a session counts Python's events, and is that of the session there is", async () => {
      const state = { a: 1 };
      await service.createSession({ ...KEY, title: 'Tea', state });
      const session = await service.getSession(KEY);
      assert.ok(session);
      const usageMetadata = { promptTokenCount: 3, totalTokenCount: 5 };
      const event = { ...userEvent('one', { a: 2 }), modelVersion: 'm', usageMetadata };
      await service.appendEvent({ session, event });
      const ours = await service.sessionInfo(KEY);
      assert.deepEqual(ours.usage, { m: usageMetadata });
      assert.deepEqual([ours.eventCount, ours.initialState, ours.title], [1, state, 'Tea']);
      await python.ask('get', PYTHON_KEY);
      const appended = await python.ask('append', pythonEvent('two', { b: 1 }));
      assert.equal(appended.error, undefined);
      const both = await service.sessionInfo(KEY);
      assert.deepEqual([both.eventCount, both.initialState, both.title], [2, state, 'Tea']);
      assert.deepEqual(both.usage, { m: usageMetadata });
      assert.equal(both.createTime, ours.createTime);
      const { events } = await service.listEvents(KEY);
      assert.equal(
        both.bytes,
        Buffer.byteLength(events.map((one) => JSON.stringify(one)).join('')),
      );

      await python.ask('delete', PYTHON_KEY);
      await python.ask('create', { ...PYTHON_KEY, state: { c: 1 } });
      const { createTime, lastUpdateTime, ...again } = await service.sessionInfo(KEY);
      assert.deepEqual(again, { eventCount: 0, bytes: 0, usage: {} });
      assert.ok(createTime! > ours.createTime! && lastUpdateTime >= createTime!);
    });

    it('autoTitle titles a session of Python, also one that has the id of a titled one', async () => {
      const titled = new DatabaseSessionService(urls.ours, { autoTitle: true });
      try {
        for (const text of ['first', 'second']) {
          await python.ask('create', { ...PYTHON_KEY, state: {} });
          const session = await titled.getSession(KEY);
          assert.ok(session);
          await titled.appendEvent({ session, event: userEvent(text) });
          await titled.appendEvent({ session, event: userEvent('more') });
          assert.equal((await titled.getSession(KEY))?.title, text);
          assert.equal((await python.ask('get', PYTHON_KEY)).events.length, 2);
          await python.ask('delete', PYTHON_KEY);
        }
      } finally {
        await titled.close();
      }
    });

    const writes: Record<string, (session: Session) => Promise<unknown>> = {
      'appended to it': (session) => service.appendEvent({ session, event: userEvent('ours') }),
      'replaced an event of it': (session) => {
        const event = { ...userEvent('ours'), id: session.events[0]?.id ?? '' };
        return service.appendEvent({ session, event });
      },
      'changed its state': () => service.updateState({ ...KEY, stateDelta: { n: 1 } }),
    };
    for (const [what, write] of Object.entries(writes)) {
      it(`a session loaded by Python is stale after the package has ${what}`, async () => {
        await python.ask('create', PYTHON_KEY);
        await python.ask('append', pythonEvent('first'));
        const session = await service.getSession(KEY);
        assert.ok(session);
        await write(session);
        assert.equal(
          (await python.ask('append', pythonEvent('theirs'))).error,
          'StaleSessionError',
        );
        await python.ask('get', PYTHON_KEY);
        assert.equal((await python.ask('append', pythonEvent('theirs'))).error, undefined);
        const again = await service.getSession(KEY);
        assert.equal(again?.events.map(firstText).at(-1), 'theirs');
      });
    }

    it('events that Python appended meanwhile reach the handle at its next append', async () => {
      const session = await service.createSession(KEY);
      await python.ask('get', PYTHON_KEY);
      await python.ask('append', pythonEvent('theirs', { n: 1, 'user:n': 2 }));
      await service.appendEvent({ session, event: userEvent('ours') });
      assert.deepEqual(session.events.map(firstText), ['theirs', 'ours']);
      assert.deepEqual(session.state, { n: 1, 'user:n': 2 });
    });

    it("digits of Python's integers are kept until their key is written", async () => {
      // JSON as Python's parser takes it.
      const large = '12345678901234567890';
      await python.askText('create', { ...PYTHON_KEY, state: `{"large": ${large}}` });
      const session = await service.getSession(KEY);
      assert.ok(session);
      assert.deepEqual(session.state, { large: Number(large) });
      await service.appendEvent({ session, event: userEvent('one', { other: 1 }) });
      assert.ok((await python.askText('get', PYTHON_KEY)).includes(`"large": ${large},`));
      await service.appendEvent({ session, event: userEvent('two', { large: 5 }) });
      assert.equal((await python.ask('get', PYTHON_KEY)).state.large, 5);
    });
  });
}
