// Columns whose collation finds `ADA` for `ada` are refused, by the service and as FROM of copy.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { command } from '../../../command/stores.js';
import { emptied } from '../servers.js';
import { bothServers } from '../both_servers.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();
const servers = bothServers();

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

async function isRefused(url: string, message: RegExp): Promise<void> {
  const service = new DatabaseSessionService(url);
  const refusal = { code: 'storage_unavailable', message };
  await assert.rejects(service.ping(), refusal);
  await assert.rejects(service.getSession(KEY), refusal);
  await service.close();
  const { code, err } = await command('copy', url, join(folder, 'copy.jsonl'));
  assert.equal(code, 1);
  assert.match(err, message);
}

/** A file with the service's tables, created with changed columns. */
async function fileWith(name: string, change: (statement: string) => string): Promise<string> {
  const path = join(folder, `${name}.db`);
  const service = new DatabaseSessionService(`sqlite:${path}`);
  await service.ping();
  await service.close();
  const database = new Sqlite(path);
  const statements = database
    .prepare<[], string>("select sql from sqlite_master where type = 'table'")
    .pluck()
    .all();
  database.close();
  rmSync(path);
  const changed = new Sqlite(path);
  for (const statement of statements) changed.exec(change(statement));
  changed.exec("insert into adk_internal_metadata values ('schema_version', '1')");
  changed.close();
  return `sqlite:${path}`;
}

describe('A column with a collation that ignores case or trailing spaces', () => {
  const nocase: [title: string, change: (statement: string) => string][] = [
    ['of sessions', (text) => text.replace('"user_id" varchar(128)', '$& collate nocase')],
    ['quoted', (text) => text.replace('"app_name" varchar(128)', '$& COLLATE "NOCASE"')],
    ['with blanks at the end', (text) => text.replace('"id" varchar(128)', '$& collate rtrim')],
  ];
  for (const [title, change] of nocase) {
    it(`is refused on SQLite: ${title}`, async () => {
      const url = await fileWith(title.replaceAll(' ', '_'), change);
      await isRefused(url, /collation (?:nocase|rtrim)/i);
    });
  }

  it('is refused on SQLite if its type changes ids that look like numbers', async () => {
    const url = await fileWith('number', (text) =>
      text.replace('"user_id" varchar(128)', '"user_id" numeric'),
    );
    await isRefused(url, /user_id of .* "numeric".*TEXT/);
  });

  it('is accepted on SQLite if only a default value names the collation', async () => {
    const url = await fileWith('comment', (text) =>
      text.replace('"user_id" varchar(128)', "$& default 'collate nocase' collate binary"),
    );
    const service = new DatabaseSessionService(url);
    await service.createSession(KEY);
    assert.equal(await service.getSession({ ...KEY, userId: 'ADA' }), undefined);
    await service.close();
  });

  const ofPostgres: [title: string, type: string, before: string, message: RegExp][] = [
    [
      'a collation',
      'varchar(128) collate anycase',
      "create collation anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      /not deterministic.*ALTER TABLE "sessions"/,
    ],
    // Like `citext`, an extension that not every server has.
    ['character(n)', 'char(128)', 'select 1', /all characters.*ALTER TABLE "sessions"/],
  ];
  for (const [title, type, before, message] of ofPostgres) {
    it(`is refused on PostgreSQL with the statements that correct it: ${title}`, async () => {
      await isRefusedAndCorrected(type, before, message);
    });
  }

  async function isRefusedAndCorrected(type: string, before: string, message: RegExp) {
    const url = await emptied('postgresql', servers.postgres);
    const service = new DatabaseSessionService(url);
    await service.createSession(KEY);
    await service.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(before);
    for (const table of ['sessions', 'events']) {
      await client.query(`alter table ${table} alter column user_id type ${type}`);
    }
    await isRefused(url, message);
    const again = new DatabaseSessionService(url);
    const statements = await again.ping().catch((error: unknown) => {
      return /run: (.*;)/.exec((error as Error).message)?.[1];
    });
    await client.query(statements ?? '');
    await client.end();
    await again.ping();
    assert.equal(await again.getSession({ ...KEY, userId: 'ADA' }), undefined);
    assert.notEqual(await again.getSession(KEY), undefined);
    await again.close();
  }

  it('is refused on MariaDB', async () => {
    const url = await emptied('mariadb', servers.mariadb);
    const service = new DatabaseSessionService(url);
    await service.ping();
    await service.close();
    const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
    await connection.query('alter table app_states modify app_name varchar(128) not null');
    await connection.end();
    await isRefused(url, /ALTER TABLE `app_states` MODIFY `app_name`/);
  });

  it('is refused on MariaDB in tables of @google/adk if it takes two users for one', async () => {
    const url = await emptied('mariadb', servers.mariadb);
    const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
    const tables = {
      app_states: ['app_name'],
      user_states: ['app_name', 'user_id'],
      sessions: ['app_name', 'user_id', 'id'],
      events: ['app_name', 'user_id', 'session_id', 'event_data'],
    };
    for (const [table, names] of Object.entries(tables)) {
      const columns = names.map((name) => `${name} varchar(191)`);
      await connection.query(`create table ${table} (${columns.join(', ')})`);
    }
    await connection.query("insert into sessions values ('app', 'ada', '1'), ('app', 'ADA', '2')");
    await connection.end();
    const { code, err } = await command('copy', url, join(folder, 'of_adk.jsonl'));
    assert.equal(code, 1);
    assert.match(err, /values of user_id that differ only/);
  });
});
