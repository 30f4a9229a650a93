// SQLite files in which both of google-adk's services have written, as `adk api_server` leaves them with the wrong
// address: texts of `DatabaseSessionService` as times, and seconds of `SqliteSessionService`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { Diagnostic } from '../../../../../js/index.js';
import { newFolder } from '../../../../new_folder.js';
import { eventOf } from '../cases/concurrency.js';
import { newSqliteServiceFile } from './sqlite_service_tables.js';

const folder = newFolder();
const USER = { appName: 'app', userId: 'user' };
const OURS = { ...USER, sessionId: 'ours' };
const OTHER = { ...USER, sessionId: 'other' };
const TEXT = '2023-11-14 22:13:20.123457';
const SECONDS = 1700000000.123457;

/** The files, by the service whose tables they have, and the time of a row that the other service writes. */
const FILES: [service: string, time: string | number, prepare: (path: string) => unknown][] = [
  ['DatabaseSessionService', SECONDS, () => undefined],
  // A column of the type `datetime` keeps it as an integer.
  ['DatabaseSessionService', Math.floor(SECONDS), () => undefined],
  ['SqliteSessionService', TEXT, newSqliteServiceFile],
];

/** The calls by which a program reads the row of a session. */
const READS: [title: string, read: (service: DatabaseSessionService) => Promise<unknown>][] = [
  ['listSessions', (service) => service.listSessions(USER)],
  ['a page of listSessions', (service) => service.listSessions({ ...USER, limit: 10 })],
  ['getSession', (service) => service.getSession(OTHER)],
  ['listEvents', (service) => service.listEvents({ ...OTHER, limit: 1 })],
  ['getEvents', (service) => service.getEvents({ ...OTHER, eventIds: ['e'] })],
  ['listChanges', (service) => service.listChanges({ ...OTHER, since: 1 })],
  ['sessionInfo', (service) => service.sessionInfo(OTHER)],
];

let count = 0;

/** Opens a file in which the service has a session, and returns what it reports besides its calls. */
async function open(prepare: (path: string) => unknown) {
  const path = join(folder, `${++count}.db`);
  prepare(path);
  const told: Diagnostic[] = [];
  const onDiagnostic = (one: Diagnostic) => void (one.kind !== 'call' && told.push(one));
  const service = new DatabaseSessionService(`sqlite:${path}`, { onDiagnostic });
  const session = await service.createSession(OURS);
  await service.appendEvent({ session, event: eventOf('e') });
  return { path, told, service, session };
}

function writeOther(path: string, time: string | number): void {
  const python = new Sqlite(path);
  python
    .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
    .run('app', 'user', 'other', '{}', time, time);
  python.close();
}

for (const [layout, time, prepare] of FILES) {
  describe(`A file of ${layout} with a row whose time is ${time}`, () => {
    for (const [title, read] of READS) {
      it(`is told once by ${title}`, async () => {
        const { path, told, service } = await open(prepare);
        writeOther(path, time);
        await read(service);
        assert.deepEqual(told, [{ kind: 'mixed_rows', storage: 'sqlite', code: 'corrupt_record' }]);
        await read(service);
        await service.listSessions(USER);
        assert.equal(told.length, 1);
        await service.close();
      });
    }

    it('is told by an append through a handle', async () => {
      const { path, told, service, session } = await open(prepare);
      const python = new Sqlite(path);
      python.prepare('update sessions set update_time = ?').run(time);
      python.close();
      await service.appendEvent({ session, event: eventOf('n') });
      assert.equal(told.length, 1);
      await service.close();
    });

    it('is not told while all rows are of its own form', async () => {
      const { told, service } = await open(prepare);
      await service.createSession(OTHER);
      for (const [, read] of READS) await read(service);
      assert.deepEqual(told, []);
      await service.close();
    });
  });
}
