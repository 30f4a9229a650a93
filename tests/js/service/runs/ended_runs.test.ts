// A run that was cancelled or undone stores nothing more, whatever handle its agent uses.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';

import { mapStorage } from '../../../../examples/map_storage.js';
import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import {
  createEvent,
  InMemorySessionService,
  type NewEvent,
  openSessionService,
  type Session,
  type SessionService,
  type SessionServiceOptions,
} from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { storeMessageOnce } from '../../../../js/service/runs/agent/run_storage.js';
import { endRun } from '../../../../js/service/runs/agent/end_events.js';
import { storedStatus } from '../../../../js/service/runs/agent/run_status.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { newFolder } from '../../../new_folder.js';
import { MapStorage } from '../map_storage.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

type Stale = NonNullable<SessionServiceOptions['stale']>;

const SERVICES: Readonly<
  Record<string, (stale: Stale) => SessionService | Promise<SessionService>>
> = {
  memory: (stale) => new InMemorySessionService({ stale }),
  SQLite: (stale) => new DatabaseSessionService('sqlite::memory:', { stale }),
  'the storage of the examples': (stale) => openSessionService({ stale, storage: mapStorage() }),
  'a slow storage': (stale) => openSessionService({ stale, storage: new MapStorage() }),
  HTTP: (stale) => openRemote({ stale }).remote,
  'a cache': (stale) => openCache(new Server(), { stale }).cache,
};

const isCancelled = { code: 'stale_session', staleReason: 'cancelled' } as const;
const isUndone = { code: 'stale_session', staleReason: 'undone' } as const;

const message = (id: string, invocationId: string) =>
  createEvent({ id, invocationId, author: 'user', content: { parts: [{ text: id }] } });

async function read(service: SessionService): Promise<Session> {
  const session = await service.getSession(KEY);
  assert.ok(session);
  return session;
}

const idsIn = async (service: SessionService): Promise<string[]> =>
  (await read(service)).events.map(({ id }) => id);

/** Appends through a handle that is read for that. */
async function appendAnew(
  service: SessionService,
  id: string,
  invocationId: string,
  more: Partial<NewEvent> = {},
): Promise<Session> {
  const session = await read(service);
  await service.appendEvent({ session, event: { id, invocationId, author: 'guide', ...more } });
  return session;
}

/** Begins a run. @returns the handle with its message */
async function begin(service: SessionService, id: string, invocationId: string): Promise<Session> {
  const session = await read(service);
  await storeMessageOnce(service, session, message(id, invocationId));
  return session;
}

/** Cancels a run, as its program does. */
const endOf = (service: SessionService, id: string, invocationId: string) =>
  endRun(service, {
    key: KEY,
    message: { id, invocationId },
    drafts: [],
    agentName: 'guide',
    isUnanswered: false,
  });

for (const [name, open] of Object.entries(SERVICES)) {
  for (const stale of ['merge', 'append'] as const) {
    describe(`A run over ${name}, with the policy ${stale},`, () => {
      /** A service with a run, which has stored an event. */
      async function openRun(test: TestContext) {
        const service = await open(stale);
        test.after(() => service.close());
        await service.createSession(KEY);
        const handle = await begin(service, 'm1', 'i1');
        await appendAnew(service, 'a1', 'i1');
        return { service, handle };
      }

      it('is refused behind its end event, also if it reads the session before each append', async (test) => {
        const { service, handle } = await openRun(test);
        const [endEvent] = await endOf(service, 'm1', 'i1');
        await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
        await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
        const unread = { ...(await read(service)), state: {} };
        const event = { id: 'late', invocationId: 'i1', author: 'guide' };
        await assert.rejects(service.appendEvent({ session: unread, event }), isCancelled);
        await assert.rejects(service.appendEvent({ session: handle, event }), isCancelled);
        assert.deepEqual(await idsIn(service), ['m1', 'a1', endEvent?.id]);
      });

      it('is refused behind a rewind that undoes it, until that is undone', async (test) => {
        const { service } = await openRun(test);
        await rewind(service, { ...KEY, before: { invocationId: 'i1' } });
        await assert.rejects(appendAnew(service, 'late', 'i1'), isUndone);
        await assert.rejects(appendAnew(service, 'late', 'i1'), isUndone);
        await undoRewind(service, KEY);
        const session = await appendAnew(service, 'a2', 'i1');
        assert.deepEqual(
          session.events.map(({ id }) => id),
          await idsIn(service),
        );
      });

      it('is refused through an old handle, also after that has appended something else', async (test) => {
        const { service, handle } = await openRun(test);
        await endOf(service, 'm1', 'i1');
        await service.appendEvent({ session: handle, event: message('b1', 'i2') });
        const event = { id: 'late', invocationId: 'i1', author: 'guide' };
        await assert.rejects(service.appendEvent({ session: handle, event }), isCancelled);
        await rewind(service, { ...KEY, before: { invocationId: 'i1' } });
        await service.appendEvent({ session: handle, event: message('c1', 'i3') });
        await assert.rejects(service.appendEvent({ session: handle, event }), isUndone);
      });

      it('goes on after another message of its invocation', async (test) => {
        const { service } = await openRun(test);
        await endOf(service, 'm1', 'i1');
        await begin(service, 'm2', 'i1');
        await appendAnew(service, 'a2', 'i1');
        await endOf(service, 'm2', 'i1');
        await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
      });

      it('goes on while another one beside it is cancelled', async (test) => {
        const { service, handle } = await openRun(test);
        const other = await begin(service, 'm2', 'i2');
        await appendAnew(service, 'a2', 'i1');
        await appendAnew(service, 'b1', 'i2');
        await endOf(service, 'm2', 'i2');
        await appendAnew(service, 'a3', 'i1');
        await service.appendEvent({ session: other, event: message('a4', 'i1') });
        await service.appendEvent({ session: handle, event: message('a5', 'i1') });
        await assert.rejects(appendAnew(service, 'late', 'i2'), isCancelled);
      });

      it('is refused behind its end event although an event of it is appended again', async (test) => {
        const { service, handle } = await openRun(test);
        const again = { id: 'a2', invocationId: 'i1', author: 'guide', timestamp: 1000 };
        await service.appendEvent({ session: handle, event: { ...again } });
        await endOf(service, 'm1', 'i1');
        await appendAnew(service, 'a2', 'i1', { timestamp: 1000 });
        await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
      });

      it('is refused alone, if its append is stored together with others', async (test) => {
        const { service } = await openRun(test);
        await endOf(service, 'm1', 'i1');
        const session = await read(service);
        const append = (id: string, invocationId: string) =>
          service.appendEvent({ session, event: { id, invocationId, author: 'guide' } });
        const outcomes = await Promise.allSettled([
          append('x1', 'x'),
          append('late', 'i1'),
          append('x2', 'x'),
        ]);
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          ['fulfilled', 'rejected', 'fulfilled'],
        );
      });

      it('takes its own events and those of others once on a handle that is read again', async (test) => {
        const { service } = await openRun(test);
        await appendAnew(service, 'x1', 'x');
        const session = await appendAnew(service, 'a2', 'i1');
        assert.deepEqual(
          session.events.map(({ id }) => id),
          ['m1', 'a1', 'x1', 'a2'],
        );
      });

      it('ends with its session: a new one with the same id takes its events', async (test) => {
        const { service } = await openRun(test);
        await endOf(service, 'm1', 'i1');
        await service.deleteSession(KEY);
        await service.createSession(KEY);
        await appendAnew(service, 'new', 'i1');
        await appendAnew(service, 'endEvent', 'i1', { errorCode: 'INVOCATION_ABORTED' });
        await appendAnew(service, 'newer', 'i1');
        assert.deepEqual(await idsIn(service), ['new', 'endEvent', 'newer']);
      });
    });

    it(`An invocation that is no run is checked by its handle alone, over ${name}, with the policy ${stale}`, async (test) => {
      const service = await open(stale);
      test.after(() => service.close());
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: message('m1', 'always') });
      await appendAnew(service, 'endEvent', 'always', { errorCode: 'INVOCATION_ABORTED' });
      const event = { id: 'late', invocationId: 'always', author: 'guide' };
      await assert.rejects(service.appendEvent({ session, event }), isCancelled);
      await appendAnew(service, 'a1', 'always');
      await rewind(service, { ...KEY, before: { invocationId: 'always' } });
      await appendAnew(service, 'a2', 'always');
      await begin(service, 'm2', 'i2');
      await appendAnew(service, 'a3', 'always');
      const [shown] = [await service.getSession({ ...KEY, config: { view: 'transcript' } })];
      assert.deepEqual(
        shown?.events.map(({ id }) => id),
        ['a2', 'm2', 'a3'],
      );
    });
  }
}

it('An end event of an earlier run, which comes late, does not cancel the next message', () => {
  const endEventOf = (invocationId: string) =>
    createEvent({ id: 's', invocationId, author: 'guide', errorCode: 'INVOCATION_ABORTED' });
  const messages = [message('m1', 'i1'), message('m2', 'i2')];
  const status = (ended: string) => storedStatus([...messages, endEventOf(ended)]);
  assert.deepEqual(status('i1'), { status: 'unanswered', messageId: 'm2' });
  assert.deepEqual(status('i2'), { status: 'cancelled', messageId: 'm2' });
});

describe('A cancelled run', () => {
  it('is refused with the policy reject, also through a handle that has its end event', async (test) => {
    const service = new InMemorySessionService({ stale: 'reject' });
    test.after(() => service.close());
    await service.createSession(KEY);
    await begin(service, 'm1', 'i1');
    await endOf(service, 'm1', 'i1');
    await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
  });

  it('is refused by the other service over the same storage', async (test) => {
    const storage = mapStorage();
    const [one, other] = [
      await openSessionService({ storage }),
      await openSessionService({ storage }),
    ];
    test.after(() => Promise.all([one.close(), other.close()]));
    await one.createSession(KEY);
    await begin(one, 'm1', 'i1');
    await endOf(one, 'm1', 'i1');
    await assert.rejects(appendAnew(other, 'late', 'i1'), isCancelled);
  });

  it('is refused at its next append if another process has cancelled or undone it', async (test) => {
    const url = `sqlite:${join(newFolder(), 'sessions.db')}`;
    const [here, elsewhere] = [new DatabaseSessionService(url), new DatabaseSessionService(url)];
    test.after(() => Promise.all([here.close(), elsewhere.close()]));
    await here.createSession(KEY);
    await begin(here, 'm1', 'i1');
    await endOf(elsewhere, 'm1', 'i1');
    await assert.rejects(appendAnew(here, 'late', 'i1'), isCancelled);
    await begin(here, 'm2', 'i2');
    await rewind(elsewhere, { ...KEY, before: { invocationId: 'i2' } });
    await assert.rejects(appendAnew(here, 'late', 'i2'), isUndone);
  });

  it('of a cache is stored behind a rewind if the user retries it', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    await cache.createSession(KEY);
    await begin(cache, 'm1', 'i1');
    await cache.sync();
    server.isOffline = true;
    await appendAnew(cache, 'late', 'i1');
    await rewind(server.service, { ...KEY, before: { invocationId: 'i1' } });
    server.isOffline = false;
    await cache.sync();
    const [entry] = await cache.outbox.list(KEY);
    assert.equal(entry?.error?.code, 'stale_session');
    await cache.outbox.retry(KEY);
    await cache.sync();
    assert.ok((await idsIn(server.service)).includes('late'));
  });

  it('is forgotten after a thousand others, and then checked by its handle alone', async (test) => {
    const service = new InMemorySessionService();
    test.after(() => service.close());
    await service.createSession(KEY);
    await begin(service, 'm1', 'i1');
    await endOf(service, 'm1', 'i1');
    const session = await read(service);
    for (let at = 1; at < 1000; at += 1) {
      await storeMessageOnce(service, session, message(`n${at}`, `n${at}`));
    }
    await assert.rejects(appendAnew(service, 'late', 'i1'), isCancelled);
    await storeMessageOnce(service, session, message('n1000', 'n1000'));
    await appendAnew(service, 'late', 'i1');
  });

  it('takes no second end event, and an undone one takes none', async (test) => {
    const service = new InMemorySessionService();
    test.after(() => service.close());
    await service.createSession(KEY);
    await begin(service, 'm1', 'i1');
    assert.equal((await endOf(service, 'm1', 'i1')).length, 1);
    assert.deepEqual(await endOf(service, 'm1', 'i1'), []);
    await begin(service, 'm2', 'i2');
    await rewind(service, { ...KEY, before: { invocationId: 'i2' } });
    assert.deepEqual(await endOf(service, 'm2', 'i2'), []);
  });
});
