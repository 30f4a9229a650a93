// Python sets a session's `update_time` to the time of its event. That may be an earlier or equal time: Python's clock is
// behind, or the event was made before the package's last append. The package must still recognise a stale handle.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import {
  DatabaseSessionService,
  type DatabaseOptions,
} from '../../../js/service/database/index.js';
import { isSessionError, type Session } from '../../../js/index.js';
import { type PythonSession, type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';
import { SHARED_ENGINES } from './shared_databases.js';

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

/** When Python's events are, in seconds after our session's last one; one each, in the order of their coming. */
const LATENESS: readonly (readonly [title: string, seconds: readonly number[]])[] = [
  ['at the same microsecond', [0]],
  ['twice at the same microsecond', [0, 0]],
  ['a second behind', [-1]],
  ['twice behind', [-2, -1]],
  ['ever further behind', [-1, -2]],
  ['twice at one moment behind', [-1, -1]],
  ['behind and then at the same microsecond', [-1, 0]],
  ['behind and then ahead', [-1, 1]],
  ['behind and then a microsecond ahead', [-1, 0.000001]],
  ['years behind', [-100_000_000]],
];

for (const [title, start] of SHARED_ENGINES) {
  describe(`An event of Python's on ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    const services: DatabaseSessionService[] = [];
    let url: string;
    let count = 0;

    beforeEach(async () => {
      const urls = await newDatabase();
      url = urls.ours;
      await python.open(urls.python);
    });
    afterEach(async () => {
      for (const service of services.splice(0)) await service.close();
    });

    function open(stale: DatabaseOptions['stale']): DatabaseSessionService {
      const service = new DatabaseSessionService(url, { stale });
      services.push(service);
      return service;
    }
    /** A session to which the package has just appended. */
    async function startedSession(service: DatabaseSessionService): Promise<Session> {
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: userEvent('ours', { by: 'us' }) });
      return session;
    }
    async function pythonSays({ lastUpdateTime }: Session, seconds: readonly number[]) {
      let last: PythonSession = await python.ask('get', PYTHON_KEY);
      for (const [n, later] of seconds.entries()) {
        const event = pythonEvent(`theirs ${n}`, { by: n }, lastUpdateTime / 1000 + later);
        // Servers order events of one time by id.
        const id = `e${String(++count).padStart(6, '0')}`;
        last = await python.ask('append', { ...event, id });
        assert.equal(last.error, undefined);
      }
      return last;
    }
    const theirs = (seconds: readonly number[]) => seconds.map((_, n) => `theirs ${n}`);

    for (const [when, seconds] of LATENESS) {
      it(`${when} reaches the handle at its next append`, async () => {
        const service = open('merge');
        const session = await startedSession(service);
        await pythonSays(session, seconds);
        await service.appendEvent({ session, event: userEvent('after') });
        assert.deepEqual(session.events.map(firstText), ['ours', ...theirs(seconds), 'after']);
        const stored = await service.getSession(KEY);
        assert.equal(stored?.events.length, seconds.length + 2);
        assert.equal(stored.events.at(-1)?.id, session.events.at(-1)?.id);
        assert.equal(stored.state.by, seconds.length - 1);
        const isInOrder = seconds.every((later, n) => n === 0 || later >= (seconds[n - 1] ?? 0));
        if (isInOrder) assert.deepEqual(session.state, stored.state);
      });

      it(`${when} makes the handle stale until it is read again`, async () => {
        const service = open('reject');
        const session = await startedSession(service);
        await pythonSays(session, seconds);
        const before = structuredClone(session);
        await assert.rejects(
          service.appendEvent({ session, event: userEvent('refused') }),
          (error) => {
            assert.ok(isSessionError(error, 'stale_session'), String(error));
            const { expectedRevision = NaN, actualRevision = NaN } = error;
            assert.ok(expectedRevision < actualRevision);
            return true;
          },
        );
        assert.deepEqual(session, before);
        const again = await service.getSession(KEY);
        assert.ok(again);
        for (const text of ['after', 'and after']) {
          await service.appendEvent({ session: again, event: userEvent(text) });
        }
        const inPython = await python.ask('get', PYTHON_KEY);
        assert.deepEqual(inPython.events.map(firstText).slice(-2), ['after', 'and after']);
        assert.equal(inPython.events.length, seconds.length + 3);
      });
    }

    it('after another one that made the handle stale makes it stale again', async () => {
      const service = open('reject');
      const first = await startedSession(service);
      await pythonSays(first, [-1]);
      const second = await service.getSession(KEY);
      assert.ok(second);
      await pythonSays(first, [-0.5]);
      await assert.rejects(service.appendEvent({ session: second, event: userEvent('refused') }), {
        code: 'stale_session',
      });
    });

    it('with an earlier time does not make a later handle stale that was stored as JSON', async () => {
      const service = open('reject');
      const session = await startedSession(service);
      await pythonSays(session, [-1]);
      const kept = JSON.parse(JSON.stringify(await service.getSession(KEY))) as Session;
      await service.appendEvent({ session: kept, event: userEvent('after') });
      assert.equal((await service.getSession(KEY))?.events.length, 3);
    });

    it('with an earlier time is omitted if the service appends without merging', async () => {
      const service = open('append');
      const session = await startedSession(service);
      await pythonSays(session, [-1]);
      await service.appendEvent({ session, event: userEvent('after') });
      assert.deepEqual(session.events.map(firstText), ['ours', 'after']);
      assert.equal((await service.getSession(KEY))?.events.length, 3);
    });

    it('with an earlier time reaches a handle of an empty session', async () => {
      const service = open('merge');
      const session = await service.createSession(KEY);
      await pythonSays(session, [-2, -1]);
      await service.appendEvent({ session, event: userEvent('after') });
      assert.deepEqual(session.events.map(firstText), ['theirs 0', 'theirs 1', 'after']);
      assert.deepEqual(session.state, { by: 1 });
    });

    for (const [apart, gap] of [
      ['a while apart', 50],
      ['of one millisecond', 0],
    ] as const) {
      it(`with an earlier time reaches a handle of the last events, ${apart}, without the earlier ones`, async () => {
        const service = open('merge');
        const whole = await startedSession(service);
        const now = Date.now();
        for (const n of [1, 2, 3]) {
          const event = { ...userEvent(`ours ${n}`), timestamp: now + (n - 3) * gap };
          await service.appendEvent({ session: whole, event });
        }
        const session = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
        assert.ok(session);
        await pythonSays(whole, [-1]);
        await service.appendEvent({ session, event: userEvent('after') });
        assert.deepEqual(session.events.map(firstText), ['ours 2', 'ours 3', 'theirs 0', 'after']);
      });
    }

    it('before a replaced event of the package reaches the handle too', async () => {
      const service = open('merge');
      const session = await startedSession(service);
      const event = { ...userEvent('replaced'), id: session.events[0]?.id ?? '' };
      await service.appendEvent({ session, event });
      await pythonSays(session, [-1]);
      await service.appendEvent({ session, event: userEvent('after') });
      assert.deepEqual(session.events.map(firstText), ['replaced', 'theirs 0', 'after']);
    });
  });
}
