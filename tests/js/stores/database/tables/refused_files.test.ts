// SQLite files that the service refuses: not a byte of them changes.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { SessionErrorCode } from '../../../../../js/index.js';
import { hashOf } from '../../../command/stores.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

/** `@google/adk` stores JSON in columns of type `json`, which Python's tables do not have. */
const OF_ADK = `
  create table sessions (id text, app_name text, user_id text, state json, create_time datetime, update_time datetime);
  create table events (id text, app_name text, user_id text, session_id text, timestamp datetime, event_data json);
  create table app_states (app_name text primary key, state json, update_time datetime);
  create table user_states (app_name text, user_id text, state json, update_time datetime)`;
const PICKLED = 'create table events (id text, actions blob)';
const NEWER = `create table adk_internal_metadata (key text primary key, value text);
  insert into adk_internal_metadata values ('schema_version', '99')`;
const EARLIER = `create table adk_session_wasm_details (app_name text, user_id text, session_id text, title text)`;

let count = 0;

function fileWith(statements: string): string {
  const path = join(folder, `${(count += 1)}.db`);
  const database = new Sqlite(path);
  database.exec(statements);
  database.close();
  return path;
}

function modeOf(path: string): unknown {
  const database = new Sqlite(path, { readonly: true });
  const mode = database.pragma('journal_mode', { simple: true });
  database.close();
  return mode;
}

const refused: [what: string, statements: string, code: SessionErrorCode][] = [
  ["@google/adk's own service", OF_ADK, 'storage_unavailable'],
  ['schema version 0', PICKLED, 'storage_unavailable'],
  ['a later schema version', NEWER, 'storage_newer'],
  ['an earlier build of this package', EARLIER, 'storage_unavailable'],
];

describe('A refused SQLite file', () => {
  for (const [what, statements, code] of refused) {
    it(`with the tables of ${what} is unchanged`, async () => {
      const path = fileWith(statements);
      const before = hashOf(path);
      const service = new DatabaseSessionService(`sqlite:${path}`);
      await assert.rejects(service.ping(), { code });
      await assert.rejects(service.createSession(KEY), { code });
      await service.close();
      assert.equal(hashOf(path), before);
      for (const beside of ['-wal', '-shm', '-journal']) assert.ok(!existsSync(path + beside));
    });
  }
});

it('a refused SQLite file keeps its journal mode with `createTables: false`', async () => {
  const path = fileWith('create table mine (a text)');
  const before = hashOf(path);
  const service = new DatabaseSessionService(`sqlite:${path}`, { createTables: false });
  await assert.rejects(service.ping(), { code: 'storage_unavailable' });
  await service.close();
  assert.equal(hashOf(path), before);
});

it('an accepted SQLite file gets a write-ahead log, even if many services open it at once', async () => {
  const path = fileWith('create table mine (a text)');
  const services = Array.from({ length: 8 }, () => new DatabaseSessionService(`sqlite:${path}`));
  await Promise.all(services.map((service) => service.getOrCreateSession(KEY)));
  await Promise.all(services.map((service) => service.close()));
  assert.equal(modeOf(path), 'wal');
});
