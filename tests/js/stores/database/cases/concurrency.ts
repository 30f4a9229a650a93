import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import {
  createEvent,
  type Event,
  isSessionError,
  type StateShape,
} from '../../../../../js/index.js';
import { killCreations, killDeletions, linesOf, startProgram } from './programs.js';

/** Makes a service over the database of a URL. */
export type Open = (url: string) => DatabaseSessionService;

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };

/** An event that sets one key. */
export function eventOf(id: string, stateDelta: Record<string, unknown> = {}): Event {
  const event = createEvent({ id, author: 'agent', invocationId: 'i' });
  event.actions.stateDelta = stateDelta;
  return event;
}

/** A request that adds 1 to a key. */
const counting = (key: string) => ({
  appName: 'app',
  stateDelta: (state: StateShape) => ({ [key]: Number(state[key] ?? 0) + 1 }),
});

export const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Tests that no concurrent write is lost, on any engine. */
export function losesNothing(title: string, newUrl: () => string | Promise<string>, open: Open) {
  describe(`Concurrent writes on ${title}`, () => {
    const services: DatabaseSessionService[] = [];
    after(() => Promise.all(services.map((service) => service.close())));
    /** Two services over one new database, like those of two programs. */
    async function openTwo(): Promise<[DatabaseSessionService, DatabaseSessionService]> {
      const url = await newUrl();
      const two: [DatabaseSessionService, DatabaseSessionService] = [open(url), open(url)];
      services.push(...two);
      await Promise.all(two.map((service) => service.ping()));
      return two;
    }

    it('of 8 services that open an empty database at once all succeed', async () => {
      const url = await newUrl();
      const eight = numbers(8).map(() => open(url));
      services.push(...eight);
      const created = eight.map((service, n) =>
        service.createSession({ ...USER, sessionId: `s${n}` }),
      );
      assert.equal((await Promise.all(created)).length, 8);
    });

    it('of app keys by 20 sessions are all kept', async () => {
      const two = await openTwo();
      const sessions = await Promise.all(
        numbers(20).map((n) => two[0].createSession({ ...USER, sessionId: `s${n}` })),
      );
      await Promise.all(
        sessions.map((session, n) => {
          const service = two[n % 2 === 0 ? 0 : 1];
          return service.appendEvent({ session, event: eventOf('e', { [`app:k${n}`]: n }) });
        }),
      );
      const state = await two[1].getAppState({ appName: 'app' });
      assert.equal(Object.keys(state).length, 20);
    });

    it('of app and user keys by 64 sessions of two services are grouped, and all kept', async () => {
      const two = await openTwo();
      const sessions = await Promise.all(
        numbers(64).map((n) =>
          two[n % 2 === 0 ? 0 : 1].createSession({
            ...USER,
            userId: `u${n % 5}`,
            sessionId: `s${n}`,
          }),
        ),
      );
      await Promise.all(
        sessions.map(async (session, n) => {
          const service = two[n % 2 === 0 ? 0 : 1];
          for (const round of numbers(3)) {
            const delta = { [`app:k${n}`]: round, [`user:k${n}`]: round, own: round };
            await service.appendEvent({ session, event: eventOf(`e${round}`, delta) });
          }
        }),
      );
      const app = await two[1].getAppState({ appName: 'app' });
      const users = await Promise.all(
        numbers(5).map((n) => two[0].getUserState({ ...USER, userId: `u${n}` })),
      );
      const all = Object.fromEntries(numbers(64).map((n) => [`k${n}`, 2]));
      assert.deepEqual(app, all);
      assert.deepEqual(Object.assign({}, ...users), all);
      for (const [n, { appName, userId, id: sessionId }] of sessions.entries()) {
        const read = await two[n % 2]!.getSession({ appName, userId, sessionId });
        assert.deepEqual(read?.events.map(({ id }) => id), ['e0', 'e1', 'e2']); // prettier-ignore
        assert.equal(read.state.own, 2);
      }
    });

    it('of app and user keys by 20 creates are all kept', async () => {
      const two = await openTwo();
      await Promise.all(
        numbers(20).map((n) =>
          two[n % 2 === 0 ? 0 : 1].createSession({
            ...USER,
            sessionId: `s${n}`,
            state: { [`app:k${n}`]: n, [`user:k${n}`]: n },
          }),
        ),
      );
      const app = await two[0].getAppState({ appName: 'app' });
      const user = await two[0].getUserState(USER);
      assert.deepEqual([Object.keys(app).length, Object.keys(user).length], [20, 20]);
    });

    it('of 2,000 counts by two services are all counted', async () => {
      const two = await openTwo();
      await Promise.all(
        numbers(2000).map((n) => two[n % 2 === 0 ? 0 : 1].updateState(counting('app:total'))),
      );
      assert.deepEqual(await two[0].getAppState({ appName: 'app' }), { total: 2000 });
    });

    it('of 500 counts by each of two programs are all counted', async () => {
      const url = await newUrl();
      const service = open(url);
      services.push(service);
      await service.ping();
      const programs = numbers(2).map(() => startProgram('counts', url, '500'));
      const ended = await Promise.all(programs.map((program) => once(program, 'exit')));
      assert.deepEqual(ended.map(([status]: unknown[]) => status), [0, 0]); // prettier-ignore
      assert.deepEqual(await service.getAppState({ appName: 'app' }), { total: 1000 });
    });

    it('of 20 turns that count in one session are all counted', async () => {
      const two = await openTwo();
      await two[0].createSession(KEY);
      const turns = numbers(20).map(async (n) => {
        const service = two[n % 2 === 0 ? 0 : 1];
        const session = (await service.getSession(KEY))!;
        await service.appendEvent({ session, event: eventOf(`turn ${n}`) });
        await service.updateState({ ...KEY, ...counting('n') });
      });
      await Promise.all(turns);
      const session = await two[0].getSession(KEY);
      assert.deepEqual([session?.state.n, session?.events.length], [20, 40]);
    });

    it('of two services to one session store each event once', async () => {
      const two = await openTwo();
      await two[0].createSession(KEY);
      const handles = await Promise.all(two.map((service) => service.getSession(KEY)));
      await Promise.all(
        two.map(async (service, who) => {
          const session = handles[who];
          assert.ok(session);
          for (const n of numbers(25)) {
            const event = eventOf(`${who}-${n}`, { [`k${who}-${n}`]: n });
            await service.appendEvent({ session, event });
          }
        }),
      );
      const session = await two[0].getSession(KEY);
      const ids = session?.events.map((event) => event.id) ?? [];
      assert.equal(new Set(ids).size, 50);
      assert.equal(ids.length, 50);
      assert.equal(Object.keys(session?.state ?? {}).length, 50);
      for (const who of [0, 1]) {
        const own = ids.filter((id) => id.startsWith(`${who}-`));
        assert.deepEqual(
          own,
          numbers(25).map((n) => `${who}-${n}`),
        );
      }
    });

    it('of two programs to one session store each event once', async () => {
      const url = await newUrl();
      const service = open(url);
      services.push(service);
      await service.createSession(KEY);
      const acknowledged = await Promise.all(
        ['one', 'other'].map((name) => linesOf(startProgram('burst', url, name, '25'))),
      );
      const session = await service.getSession(KEY);
      const ids = session?.events.map((event) => event.id) ?? [];
      assert.equal(ids.length, 50);
      for (const [who, name] of ['one', 'other'].entries()) {
        assert.equal(acknowledged[who]?.length, 25);
        assert.deepEqual(
          ids.filter((id) => id.startsWith(name)),
          acknowledged[who],
        );
        assert.equal(session?.state[`${name} last`], 24);
      }
    });

    it('of every kind succeed', async () => {
      const two = await openTwo();
      await Promise.all(
        numbers(6).map(async (n) => {
          const service = two[n % 2 === 0 ? 0 : 1];
          const [userId, sessionId] = [`u${n % 2}`, `s${n}`];
          for (const round of numbers(4)) {
            const delta = { 'app:a': n, 'user:u': round, own: round };
            const session = await service.createSession({
              ...USER,
              userId,
              sessionId,
              state: delta,
            });
            await service.appendEvent({ session, event: eventOf('e', delta) });
            await service.updateState({ appName: 'app', userId, stateDelta: { 'user:v': n } });
            await service.updateState({ appName: 'app', stateDelta: { 'app:b': n } });
            if (round === 2) await service.deleteUserState({ appName: 'app', userId });
            if (round === 1) await service.deleteAppState({ appName: 'app' });
            await service.deleteSession({ ...USER, userId, sessionId });
          }
        }),
      );
      const { totalItems } = await two[0].listSessions({ appName: 'app' });
      assert.equal(totalItems, 0);
    });

    it('of a program that is killed keep each acknowledged event, once', async () => {
      const url = await newUrl();
      const service = open(url);
      services.push(service);
      await service.createSession(KEY);
      const program = startProgram('burst', url, 'e', 'Infinity');
      const acknowledged = await linesOf(program, (_, { length }) => {
        if (length === 40) program.kill('SIGKILL');
      });
      const session = await service.getSession(KEY);
      const ids = session?.events.map((event) => event.id) ?? [];
      assert.ok(acknowledged.length >= 40);
      // Beyond the acknowledged events, the store may hold only the append that the kill interrupted.
      assert.deepEqual(ids.slice(0, acknowledged.length), acknowledged);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(session?.state['e last'], ids.length - 1);
    });

    it('of a program that is killed leave each session that it creates whole or not at all', async () => {
      const COUNT = 2000;
      const url = await newUrl();
      const service = open(url);
      services.push(service);
      await service.ping();
      const acknowledged: string[] = [];
      for (const delay of [1, 4, 16, 40, 80]) {
        acknowledged.push(...(await killCreations(url, `k${delay}-`, COUNT, delay)));
      }
      const { sessions } = await service.listSessions(USER);
      const ids = sessions.map(({ id }) => id);
      assert.deepEqual(
        acknowledged.filter((id) => !ids.includes(id)),
        [],
      );
      for (const sessionId of ids) {
        const { state, events } = (await service.getSession({ ...USER, sessionId }))!;
        assert.equal(events.length, COUNT);
        assert.deepEqual([state.first, state.at], [sessionId, COUNT - 1]);
      }
      const marks = Object.keys(await service.getUserState(USER));
      assert.deepEqual(marks.sort(), ids.sort());
    });

    it('of a program that is killed leave each session that it deletes whole or not at all', async () => {
      const [COUNT, EVENTS] = [20, 500];
      const url = await newUrl();
      const service = open(url);
      services.push(service);
      // An old session is older than its events, or their time would be its own.
      const events = numbers(EVENTS).map((at) => ({
        ...eventOf(`e${at}`, { at }),
        timestamp: 0,
      }));
      const created: string[] = [];
      const deleted: string[] = [];
      for (const delay of [0, 1, 2, 3, 5]) {
        for (const n of numbers(COUNT)) {
          const sessionId = `s${delay}-${n}`;
          const lastUpdateTime = created.push(sessionId);
          await service.createSession({ ...USER, sessionId, lastUpdateTime, events });
        }
        const ids = await killDeletions(url, delay);
        assert.ok(ids.length > 1, 'it deletes nothing');
        deleted.push(...ids);
      }
      const { sessions } = await service.listSessions(USER);
      const left = sessions.map(({ id }) => id);
      assert.deepEqual(left.filter((id) => deleted.includes(id)), []); // prettier-ignore
      assert.ok(left.includes(created.at(-1)!));
      for (const sessionId of created) {
        const key = { ...USER, sessionId };
        if (!left.includes(key.sessionId)) await service.createSession(key);
        const session = await service.getSession(key);
        const whole = left.includes(key.sessionId) ? [EVENTS, EVENTS - 1] : [0, undefined];
        assert.deepEqual([session?.events.length, session?.state.at], whole);
      }
    });
  });
}

/** Tests a program that appends while its server is killed and restarted. */
export function survivesRestarts(
  title: string,
  newUrl: () => Promise<string>,
  open: Open,
  restart: () => Promise<void>,
) {
  it(`${title} stores each event once if it is killed and restarted during appends`, async () => {
    const service = open(await newUrl());
    const session = await service.createSession(KEY);
    const codes = new Set<string>();
    let restarting: Promise<void> | undefined;
    let isRestarted = false;
    let count = 0;
    for (; count < 60 || !isRestarted; count += 1) {
      const n = count;
      if (n === 20) restarting = restart().then(() => void (isRestarted = true));
      const event = eventOf(`e${n}`, { last: n });
      for (let isStored = false; !isStored;) {
        const before = { ids: session.events.length, state: { ...session.state } };
        try {
          await service.appendEvent({ session, event });
          isStored = true;
        } catch (error) {
          assert.ok(isSessionError(error), String(error));
          codes.add(error.code);
          assert.deepEqual({ ids: session.events.length, state: session.state }, before);
          await restarting;
        }
      }
    }
    await restarting;
    const stored = await service.getSession(KEY);
    await service.close();
    assert.deepEqual(
      stored?.events.map((event) => event.id),
      numbers(count).map((n) => `e${n}`),
    );
    assert.equal(stored.state.last, count - 1);
    const known = ['connection_lost', 'storage_unavailable'];
    assert.deepEqual(
      [...codes].filter((code) => !known.includes(code)),
      [],
    );
    assert.notEqual(codes.size, 0);
  });
}

/** Tests that a program ends by itself after the close of its service. */
export function letsProgramsEnd(title: string, newUrl: () => string | Promise<string>) {
  it(`close() on ${title} lets the program end`, async () => {
    const program = startProgram('burst', await newUrl(), 'e', '1');
    program.stdout.resume();
    const [code] = (await once(program, 'exit')) as [number | null];
    assert.equal(code, 0);
  });
}
