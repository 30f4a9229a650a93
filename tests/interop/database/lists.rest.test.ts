// Lists and pages of events by cursor in a database that google-adk for Python writes between the pages.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { EventsPage, Session } from '../../../js/index.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { SHARED_ENGINES } from './shared_databases.js';
import { firstText, pythonEvent, userEvent } from '../shared_session.js';

const APP = { appName: 'lists', userId: 'ada' };
const PYTHON = { app_name: 'lists', user_id: 'ada' };
const ids = (sessions: readonly Session[]) => sessions.map(({ id }) => id);
const idsOfEvents = ({ events }: EventsPage) => events.map(({ id }) => id);

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

for (const [title, start] of SHARED_ENGINES) {
  describe(`On ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();
    let service: DatabaseSessionService;
    beforeEach(async () => {
      const urls = await newDatabase();
      service = new DatabaseSessionService(urls.ours);
      await python.open(urls.python);
      for (const sessionId of ['s1', 's2', 's3', 's4', 's5', 's6']) {
        const isOurs = Number(sessionId[1]) % 2 === 0;
        if (isOurs) await service.createSession({ ...APP, sessionId });
        else await python.ask('create', { ...PYTHON, session_id: sessionId });
      }
    });
    afterEach(() => service.close());

    const append = async (sessionId: string) => {
      await python.ask('get', { ...PYTHON, session_id: sessionId });
      const { error } = await python.ask('append', pythonEvent('new'));
      assert.equal(error, undefined);
    };

    it('a cursor leads on while Python appends, deletes and creates', async () => {
      const first = await service.listSessions({ ...APP, limit: 2 });
      assert.deepEqual(ids(first.sessions), ['s1', 's2']);
      await append('s2');
      await append('s4');
      await python.ask('delete', { ...PYTHON, session_id: 's3' });
      const second = await service.listSessions({ ...APP, limit: 2, cursor: first.nextCursor });
      assert.deepEqual(ids(second.sessions), ['s5', 's6']);
      const third = await service.listSessions({ ...APP, limit: 9, cursor: second.nextCursor });
      assert.deepEqual(ids(third.sessions), ['s2', 's4']);
    });

    it('cursors of events lead on while Python appends, and not into a session that it made again', async () => {
      const key = { ...APP, sessionId: 's2' };
      await append('s2');
      const session = await service.getSession(key);
      await service.appendEvent({ session: session!, event: userEvent('ours') });
      await append('s2');
      const all = idsOfEvents(await service.listEvents(key));
      assert.equal(all.length, 3);
      const last = await service.listEvents({ ...key, limit: 1 });
      await append('s2');
      const older = await service.listEvents({ ...key, before: last.before });
      assert.deepEqual([...idsOfEvents(older), ...idsOfEvents(last)], all);
      const newer = await service.listEvents({ ...key, after: last.after, withCount: true });
      assert.deepEqual(newer.events.map(firstText), ['new']);
      assert.equal(newer.eventCount, 4);
      const walked = [];
      for await (const { id } of service.events({ ...key, limit: 2 })) walked.push(id);
      assert.deepEqual(walked, [...all, ...idsOfEvents(newer)]);

      await python.ask('delete', { ...PYTHON, session_id: 's2' });
      await python.ask('create', { ...PYTHON, session_id: 's2' });
      await append('s2');
      const refused = { code: 'invalid_argument', key: 'before' };
      await assert.rejects(service.listEvents({ ...key, before: last.before }), refused);
    });

    it('lists by title and labels fit what Python appends, deletes and creates again', async () => {
      const labels = { pinned: 'yes' };
      for (const sessionId of ['s2', 's3', 's5']) {
        await service.updateSession({ ...APP, sessionId }, { title: 'Green tea', labels });
      }
      await service.updateSession({ ...APP, sessionId: 's4' }, { title: 'Milk' });
      const expectListed = async (...expected: string[]) => {
        for (const filter of [{ title: 'green' }, { labels }, { title: 'tea', labels }]) {
          const { sessions } = await service.listSessions({ ...APP, ...filter });
          assert.deepEqual(ids(sessions), expected, JSON.stringify(filter));
        }
      };
      await expectListed('s2', 's3', 's5');
      await append('s3');
      await expectListed('s2', 's5', 's3');
      for (const session_id of ['s2', 's5']) {
        await python.ask('delete', { ...PYTHON, session_id });
        await expectListed(...(session_id === 's2' ? ['s5', 's3'] : ['s3']));
        await python.ask('create', { ...PYTHON, session_id });
        await expectListed(...(session_id === 's2' ? ['s5', 's3'] : ['s3']));
      }
      await append('s5');
      await expectListed('s3');
      await service.updateSession({ ...APP, sessionId: 's2' }, { title: 'Green tea', labels });
      await expectListed('s3', 's2');
    });

    for (const order of ['asc', 'desc'] as const) {
      it(`a walk (${order}) gives each session once while Python and we append`, async () => {
        const given: string[] = [];
        for await (const { id } of service.sessions({ ...APP, order, limit: 2 })) {
          given.push(id);
          if (given.length === 2) {
            await append('s1');
            await append('s6');
            const session = await service.getSession({ ...APP, sessionId: 's3' });
            await service.appendEvent({ session: session!, event: userEvent('ours') });
          }
        }
        assert.deepEqual([...given].sort(), ['s1', 's2', 's3', 's4', 's5', 's6']);
      });
    }
  });
}
