import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, userEvent } from '../shared_session.js';
import { sqliteFiles } from './shared_databases.js';
import { sharedSessions } from './shared_sessions.js';

sharedSessions('one SQLite file', sqliteFiles);

// PostgreSQL's JSONB has no such numbers, and so Python cannot store them there either.
describe('On one SQLite file', { timeout: 120_000 }, () => {
  const newDatabase = sqliteFiles();
  let python: PythonSessions;
  before(() => {
    python = startPythonSessions();
  });
  after(() => python.end());

  it("Python's NaN and infinities are read as null, and stored as null by the next write", async () => {
    const urls = await newDatabase();
    const service = new DatabaseSessionService(urls.ours);
    await python.open(urls.python);
    await python.ask('create', { ...PYTHON_KEY, state: '{"none": [NaN, -Infinity], "n": 1}' });
    const session = await service.getSession(KEY);
    assert.deepEqual(session?.state, { none: [null, null], n: 1 });
    await service.appendEvent({ session, event: userEvent('one', { n: 2 }) });
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).state, { none: [null, null], n: 2 });
    await service.close();
  });
});
