// What other programs write to a database: when it is asked, and what comes of failures. tests/js/stores/database has the
// changes themselves, on each engine.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Sqlite from 'better-sqlite3';

import { coreOf } from '../../../../js/core/core_of.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { createEvent, type Notice } from '../../../../js/index.js';
import { ForeignChanges } from '../../../../js/server/feed/foreign_changes.js';
import { type SessionHandlerOptions, sessionHandler } from '../../../../js/server/index.js';
import type { ServiceCore } from '../../../../js/service/service_core.js';
import { ALL_RIGHTS, APP, type FeedEvent, feedEvents, KEY, requestTo } from '../fixture.js';
import { newFolder } from '../../../new_folder.js';

const folder = newFolder();
let files = 0;

const CHANGES = `/apps/${APP}/changes`;
const event = () => createEvent({ author: 'user', invocationId: 'i' });

/** A handler over a file, another program over the same file, and a clock that only the test moves. */
async function serveFile(t: TestContext, options: Partial<SessionHandlerOptions> = {}) {
  const file = join(folder, `${++files}.db`);
  const asked: string[] = [];
  const errors: unknown[] = [];
  const verbose = (sql: unknown): void => {
    if (String(sql).includes('"session"."update_time" >=')) asked.push(String(sql));
  };
  const service = new DatabaseSessionService(`sqlite:${file}`, { driverOptions: { verbose } });
  const other = new DatabaseSessionService(`sqlite:${file}`);
  await Promise.all([service.ping(), other.ping()]);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const onError = (error: unknown): void => void errors.push(error);
  const handler = sessionHandler(service, { authorize: () => ALL_RIGHTS, onError, ...options });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      t.mock.timers.tick(500);
      await settle();
    }
  };
  const open = async (path = CHANGES, headers: Record<string, string> = {}) => {
    const events = feedEvents(await handler(requestTo(path, { headers })));
    const pending: FeedEvent[] = [];
    const end = (async () => {
      for await (const event of events) pending.push(event);
    })();
    await settle();
    /** Returns what has come since the last call. */
    const take = (): FeedEvent[] => pending.splice(0);
    /**
     * Lets time pass until so many have come, since a busy machine answers a question later, and then as long as one more
     * question takes. Returns them.
     */
    const receive = async (count = 1): Promise<FeedEvent[]> => {
      for (let rounds = 0; rounds < 240 && pending.length < count; rounds += 1) await pass(500);
      await pass(1500);
      return take();
    };
    return { take, receive, end, events };
  };
  const close = async (): Promise<void> => {
    void handler.close();
    t.mock.timers.reset();
    await Promise.all([service.close(), other.close()]);
  };
  return { file, service, other, handler, asked, errors, settle, pass, open, close };
}

const typesOf = (events: readonly FeedEvent[]) => events.map(({ data }) => (data as Notice).type);

describe('A database that other programs write to', () => {
  it('is asked at most once a second, and only while a feed is open', async (t) => {
    const { asked, open, pass, handler, close } = await serveFile(t);
    await pass(5000);
    assert.equal(asked.length, 0);
    const response = await handler(requestTo(CHANGES));
    const reader = response.body!.getReader();
    const other = await open(`${CHANGES}?userId=ada`);
    await open(`${CHANGES}?userId=bob`);
    assert.equal(asked.length, 1);
    // A busy machine answers a question later.
    const questions = (): number => asked.length;
    for (let seconds = 1; questions() < 5 && seconds <= 120; seconds += 1) {
      await pass(1000);
      assert.ok(questions() <= seconds + 1, `${questions()} in ${seconds} s`);
    }
    assert.ok(questions() >= 5, String(questions()));
    await reader.cancel();
    void handler.close();
    await other.end;
    const before = asked.length;
    await pass(60_000);
    assert.equal(asked.length, before);
    await close();
  });

  it('is asked for the app of the feed alone', async (t) => {
    const { other, open, close } = await serveFile(t);
    const feed = await open();
    await other.createSession({ ...KEY, appName: 'other' });
    await other.createSession(KEY);
    assert.deepEqual(typesOf(await feed.receive()), ['created']);
    await close();
  });

  it('gives a feed that was cut what was written meanwhile', async (t) => {
    const { service, other, handler, settle, pass, open, close } = await serveFile(t);
    const response = await handler(requestTo(CHANGES));
    const events = feedEvents(response);
    const first = events.next();
    await settle();
    const session = await service.createSession(KEY);
    const { value } = (await first) as { value: FeedEvent };
    await events.return(undefined);
    await pass(2000);
    await service.appendEvent({ session, event: event() });
    await other.createSession({ ...KEY, sessionId: 's2' });
    await pass(120_000);
    const feed = await open(CHANGES, { 'last-event-id': value.id });
    const told = (await feed.receive(2)).map(({ data }) => data as Notice);
    assert.deepEqual(
      told.map((notice) => [notice.type, 'sessionId' in notice && notice.sessionId]),
      [
        ['appended', 's1'],
        ['created', 's2'],
      ],
    );
    await close();
  });

  it('fails: the error is reported once, the database is asked again, and nothing is missed', async (t) => {
    const { file, other, asked, errors, open, pass, close } = await serveFile(t);
    const feed = await open();
    const session = await other.createSession(KEY);
    assert.deepEqual(typesOf(await feed.receive()), ['created']);
    const database = new Sqlite(file);
    database.exec('alter table sessions rename to hidden');
    const before = asked.length;
    await pass(60_000);
    assert.equal(errors.length, 1);
    assert.ok(asked.length - before <= 8, `${asked.length - before} attempts`);
    database.exec('alter table hidden rename to sessions');
    database.close();
    await other.appendEvent({ session, event: event() });
    assert.deepEqual(typesOf(await feed.receive()), ['appended']);
    assert.equal(errors.length, 1);
    await close();
  });

  it('fails at first: the feed begins, and has resync once the database answers', async (t) => {
    const { file, errors, open, close } = await serveFile(t);
    const database = new Sqlite(file);
    database.exec('alter table sessions rename to hidden');
    const feed = await open();
    assert.equal(errors.length, 1);
    assert.deepEqual(feed.take(), []);
    database.exec('alter table hidden rename to sessions');
    database.close();
    assert.deepEqual(typesOf(await feed.receive()), ['resync']);
    await close();
  });

  it('is not asked any more once the service closes', async (t) => {
    const { service, asked, errors, open, pass, close } = await serveFile(t);
    const feed = await open();
    await service.close();
    await feed.end;
    const before = asked.length;
    await pass(60_000);
    assert.deepEqual([asked.length, errors.length], [before, 0]);
    await close();
  });

  it('tells of changes that carry earlier times, of up to ten seconds', async (t) => {
    const { file, service, open, close } = await serveFile(t);
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: event() });
    const feed = await open();
    const database = new Sqlite(file);
    // As Python does with a clock that is behind: the session gets the event's time.
    const earlier = new Date(Date.now() - 8000).toISOString().replace('T', ' ').replace('Z', '000');
    database.exec(`insert into events select 'theirs', app_name, user_id, session_id, invocation_id,
      '${earlier}', event_data from events; update sessions set update_time = '${earlier}'`);
    database.close();
    const [told, ...rest] = (await feed.receive()).map(({ data }) => data as Notice);
    assert.deepEqual(rest, []);
    const read = (await service.getSession(KEY))!;
    assert.equal(read.events.length, 2);
    const revision = service.revisionOf(read);
    assert.deepEqual(told, { type: 'appended', ...KEY, revision, scopes: [] });
    assert.ok(revision! > service.revisionOf(session)!);
    await close();
  });

  it('is asked while a state is written: the change is told once', async (t) => {
    const { service, settle, pass, open, close } = await serveFile(t);
    await service.createSession({ ...KEY, state: { 'user:n': 1, 'app:n': 1 } });
    const feed = await open(`${CHANGES}?userId=${KEY.userId}`);
    const store = await coreOf(service).callStore({}, (opened) => opened);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const write = store.write.bind(store);
    // The database has the write, and the service has not heard of it yet.
    t.mock.method(store, 'write', async (...args: Parameters<typeof write>) => {
      const written = await write(...args);
      await released;
      return written;
    });
    const writing = service.updateState({ ...KEY, stateDelta: { 'user:n': 2, 'app:n': 2 } });
    await pass(3000);
    const early = feed.take();
    release();
    await writing;
    await settle();
    const told = [...early, ...(await feed.receive(0))].map(({ data }) => data as Notice);
    const scopes = told.flatMap((notice) => ('scopes' in notice ? notice.scopes : []));
    assert.deepEqual(scopes.toSorted(), ['app', 'user']);
    await close();
  });

  it('answers after a later write of the service: the earlier one is not told again', async (t) => {
    const { service, settle, pass, open, close } = await serveFile(t);
    const feed = await open(`${CHANGES}?userId=${KEY.userId}`);
    await pass(1500);
    const store = await coreOf(service).callStore({}, (opened) => opened);
    const find = store.changes!.bind(store);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const update = (n: number) =>
      service.updateState({ appName: APP, userId: KEY.userId, stateDelta: { 'user:n': n } });
    await update(1);
    store.changes = async (...given) => {
      const changed = await find(...given);
      await released;
      return changed;
    };
    await pass(1500);
    await update(2);
    release();
    await settle();
    assert.deepEqual(typesOf(await feed.receive(2)), ['stateChanged', 'stateChanged']);
    await close();
  });
});

describe('The pause between two questions to a database', () => {
  /** Asks a storage that takes so long for each answer. Returns the pauses, by a clock that only the test moves. */
  async function pausesOf(t: TestContext, tookMs: number): Promise<number[]> {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const answeredAt: number[] = [];
    const pauses: number[] = [];
    const callStore = () => {
      const last = answeredAt.at(-1);
      if (last !== undefined) pauses.push(now - last);
      now += tookMs;
      answeredAt.push(now);
      return Promise.resolve({ sessions: [], users: new Map(), app: undefined });
    };
    const core = {
      clock: () => 0,
      calls: { requireOpen: () => undefined },
      publisher: { feed: { stateRevisions: { of: () => undefined } } },
      callStore,
    } as unknown as ServiceCore;
    const fail = (error: unknown): never => assert.fail(String(error));
    const listener = { users: new Set<string>(), push: () => undefined, report: fail };
    const changes = new ForeignChanges(core, APP, listener);
    await changes.start(undefined);
    while (pauses.length < 3) {
      await new Promise(setImmediate);
      now += 100;
      t.mock.timers.tick(100);
    }
    changes.stop();
    return pauses;
  }

  for (const [tookMs, pauseMs] of [
    [0, 1000],
    [150, 1000],
    [250, 1000],
    [500, 2000],
    [3000, 12_000],
  ] as const) {
    it(`is ${pauseMs} ms if one takes ${tookMs} ms`, async (t) => {
      assert.deepEqual(await pausesOf(t, tookMs), [pauseMs, pauseMs, pauseMs]);
    });
  }
});
