// What a page shows of failures in SQLite files whose tables and rows have the form of google-adk 2.13 for Python.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Sqlite from 'better-sqlite3';

import type { NewEvent } from '../../../../../../js/index.js';
import { isSessionError } from '../../../../../../js/index.js';
import { DatabaseSessionService } from '../../../../../../js/service/database/index.js';
import {
  errorText,
  liveSession,
  type LiveSession,
  type LiveSessionSnapshot,
} from '../../../../../../js/ui/live/index.js';
import { newFolder } from '../../../../../new_folder.js';
import { SQLITE_SERVICE_TABLES } from '../../../../stores/database/tables/sqlite_service_tables.js';
import { KEY } from '../../stores.js';
import { asks, echo } from '../agents.js';
import { type Expected, STORED_BY_PYTHON } from './failures.js';

const OWNER = 'app_name varchar(128) not null, user_id varchar(128) not null';

/** The tables of `DatabaseSessionService`, in its order. */
const DATABASE_SERVICE_TABLES = [
  `create table adk_internal_metadata ("key" varchar(128) primary key, value varchar(256) not null)`,
  `insert into adk_internal_metadata values ('schema_version', '1')`,
  `create table sessions (${OWNER}, id varchar(128) not null, state text not null,
     create_time datetime not null, update_time datetime not null,
     primary key (app_name, user_id, id))`,
  `create table app_states (app_name varchar(128) primary key, state text not null,
     update_time datetime not null)`,
  `create table user_states (${OWNER}, state text not null, update_time datetime not null,
     primary key (app_name, user_id))`,
  `create table events (id varchar(128) not null, ${OWNER}, session_id varchar(128) not null,
     invocation_id varchar(256) not null, timestamp datetime not null, event_data text,
     primary key (id, app_name, user_id, session_id),
     foreign key (app_name, user_id, session_id) references sessions (app_name, user_id, id)
       on delete cascade)`,
];

const SECONDS = 1_700_000_000;

/** The services of Python that write files: their tables, and a time of a row some seconds after the first. */
const SERVICES: Readonly<
  Record<string, { tables: readonly string[]; time: (seconds: number) => string | number }>
> = {
  DatabaseSessionService: {
    tables: DATABASE_SERVICE_TABLES,
    time: (seconds) => {
      const text = new Date((SECONDS + seconds) * 1000).toISOString();
      return text.replace('T', ' ').replace('Z', '000');
    },
  },
  SqliteSessionService: {
    tables: SQLITE_SERVICE_TABLES,
    time: (seconds) => SECONDS + seconds + 0.25,
  },
};

const folder = newFolder();
let count = 0;

/** A file that Python writes. */
class PythonFile {
  readonly path = join(folder, `${++count}.db`);
  readonly #database = new Sqlite(this.path);
  readonly #time: (seconds: number) => string | number;
  #events = 0;

  constructor({ tables, time }: (typeof SERVICES)[string]) {
    this.#time = time;
    for (const statement of tables) this.#database.exec(statement);
    this.#database
      .prepare('insert into sessions values (?, ?, ?, ?, ?, ?)')
      .run(KEY.appName, KEY.userId, KEY.sessionId, '{}', time(0), time(0));
  }

  /** Stores an event of the invocation `e-1` as Python does: snake_case, all of it in `event_data`. */
  append(event: Partial<NewEvent>): void {
    const seconds = (this.#events += 1);
    const whole = {
      author: 'guide',
      ...event,
      invocationId: 'e-1',
      actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {} },
      nodeInfo: { path: '' },
      id: `event-${seconds}`,
      timestamp: SECONDS + seconds + 0.25,
    };
    const data = JSON.stringify(whole).replace(/"\w+":/g, (name) =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    const time = this.#time(seconds);
    this.#database
      .prepare(
        `insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
         values (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(whole.id, KEY.appName, KEY.userId, KEY.sessionId, 'e-1', time, data);
    this.#database.prepare('update sessions set update_time = ?').run(time);
  }

  close(): void {
    this.#database.close();
  }
}

/** Opens the session as a page does that was just loaded. */
async function openPage(test: TestContext, { path }: PythonFile): Promise<LiveSession> {
  const service = new DatabaseSessionService(`sqlite:${path}`);
  const chat = liveSession(service, KEY, { run: echo });
  const stop = chat.subscribe(() => undefined);
  test.after(async () => {
    stop();
    await service.close();
  });
  await chat.load();
  // Resolves once the page knows of runs.
  await chat.cancel('another message');
  return chat;
}

function assertShown({ run }: LiveSessionSnapshot, { status, cause }: Expected): void {
  assert.equal(run?.status, status);
  if (status !== 'failed') return assert.equal(run?.error, undefined);
  assert.ok(isSessionError(run?.error, 'run_failed'));
  assert.deepEqual(run.error.cause, cause);
}

for (const [name, service] of Object.entries(SERVICES)) {
  describe(`A file of google-adk's ${name}`, () => {
    for (const [what, [events, expected]] of Object.entries(STORED_BY_PYTHON)) {
      it(`shows the message as ${expected.status ?? 'answered'} after: ${what}`, async (test) => {
        const file = new PythonFile(service);
        test.after(() => file.close());
        file.append({ author: 'user', content: asks('hi') });
        const page = await openPage(test, file);
        assertShown(page.getSnapshot(), { status: 'unanswered' });
        for (const event of events) file.append(event);
        await page.reload();
        assert.equal(page.getSnapshot().events.length, 1 + events.length);
        assertShown(page.getSnapshot(), expected);
        const reloaded = await openPage(test, file);
        assertShown(reloaded.getSnapshot(), expected);
      });
    }

    it("has the model's own message in the text for people", async (test) => {
      const file = new PythonFile(service);
      test.after(() => file.close());
      file.append({ author: 'user', content: asks('hi') });
      file.append({ errorCode: 'ClientError', errorMessage: '429 RESOURCE_EXHAUSTED' });
      const { run } = (await openPage(test, file)).getSnapshot();
      assert.match(errorText(run?.error), /429 RESOURCE_EXHAUSTED/);
    });
  });
}
