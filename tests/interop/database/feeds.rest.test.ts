// The feed of a server tells what google-adk for Python writes to the server's database.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import type { Notice } from '../../../js/index.js';
import type { SessionNotice } from '../../../js/values/model/notice.js';
import { RemoteSessionService } from '../../../js/service/remote/index.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../js/stores/remote/fixture.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { firstText, KEY, PYTHON_KEY, pythonEvent } from '../shared_session.js';
import { SHARED_ENGINES } from './shared_databases.js';

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

for (const [title, start] of SHARED_ENGINES) {
  describe(`A feed over ${title}`, { timeout: 120_000 }, () => {
    const newDatabase = start();

    it('has the sessions, events and states that Python writes', async () => {
      const urls = await newDatabase();
      await using service = new DatabaseSessionService(urls.ours);
      const fetch = fetchFrom(handlerOn(service));
      await using remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
      await remote.createSession({ ...KEY, sessionId: 'ours' });
      await python.open(urls.python);
      const notices = remote.watch({ appName: KEY.appName, userId: KEY.userId });
      const next = async (): Promise<Notice> => (await notices.next()).value!;
      assert.equal((await next()).type, 'resync');

      await python.ask('create', { ...PYTHON_KEY, state: { 'user:name': 'Ada' } });
      const told = [await next(), await next()];
      assert.deepEqual(told.map(({ type }) => type).sort(), ['created', 'stateChanged']);

      let session = (await remote.getSession(KEY))!;
      // A second one at the same microsecond leaves the session's time as it is.
      const seconds = Date.now() / 1000 - 2;
      for (const text of ['one', 'two']) {
        await python.ask('append', pythonEvent(text, { by: text }, seconds));
        const { type, revision } = (await next()) as SessionNotice;
        assert.equal(type, 'appended');
        assert.ok(revision > remote.revisionOf(session)!);
        session = (await remote.getSession(KEY))!;
        assert.ok(session.events.map(firstText).includes(text));
        assert.equal(remote.revisionOf(session), revision);
      }
    });
  });
}
