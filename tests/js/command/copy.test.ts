// Copies of SQLite files: all data is copied, and the source stays as it is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { importSessions } from '../../../js/service/files/index.js';
import { createEvent, InMemorySessionService } from '../../../js/index.js';
import { newSqliteServiceFile } from '../stores/database/tables/sqlite_service_tables.js';
import { requireRewound, rewindIn } from '../service/files/rewound.js';
import { filled, KEY, newPath, newUrl, pathOf, withSession } from './sqlite_stores.js';
import { command, contents, contentsOf, hashOf, row } from './stores.js';

describe('A copy of a database', () => {
  it('has its sessions, events in order and states', async () => {
    const [from, to] = [await filled(), newUrl()];
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    for (const name of ['FROM', 'TO', 'new in TO']) assert.deepEqual(row(outcome, name), [5, 34]);
    assert.deepEqual(await contentsOf(to), await withoutNull(contentsOf(from)));
  });

  it('in a file of JSON Lines is one that importSessions and copy read', async () => {
    const [from, file, to] = [await filled(), newPath('.jsonl'), newUrl()];
    const there = await command('copy', from, file);
    assert.deepEqual([there.code, row(there, 'TO')], [0, [5, 34]]);
    const back = await command('copy', file, to);
    assert.deepEqual([back.code, back.err, row(back, 'TO')], [0, '', [5, 34]]);
    const memory = new InMemorySessionService();
    for await (const { error } of importSessions(memory, readFileSync(file, 'utf8'))) {
      assert.equal(error, undefined);
    }
    assert.deepEqual(await contentsOf(to), await withoutNull(contentsOf(from)));
    const imported = (await contents(memory)) as { states: unknown }[];
    const copied = (await contentsOf(to)) as { states: unknown }[];
    assert.deepEqual(imported[0]?.states, copied[0]?.states);
  });

  it('of a copy is the same file', async () => {
    const [from, file, second] = [await filled(), newPath('.jsonl'), newPath('.jsonl')];
    await command('copy', from, file);
    assert.equal((await command('copy', file, second)).code, 0);
    assert.equal(readFileSync(second, 'utf8'), readFileSync(file, 'utf8'));
  });

  it('has the initial states, also through a file', async () => {
    const [from, file, to] = [await withSession('hi', { a: [1] }), newPath('.jsonl'), newUrl()];
    await command('copy', from, file);
    await command('copy', file, to);
    const service = new DatabaseSessionService(to);
    assert.deepEqual((await service.sessionInfo(KEY)).initialState, { a: [1] });
    await service.close();
  });

  it('has all events of a rewound session, also through a file', async () => {
    const [from, file, to] = [newUrl(), newPath('.jsonl'), newUrl()];
    const source = new DatabaseSessionService(from);
    await rewindIn(source, KEY);
    await source.close();
    assert.equal((await command('copy', from, file)).code, 0);
    assert.equal((await command('copy', file, to)).code, 0);
    const copy = new DatabaseSessionService(to);
    await requireRewound(copy, KEY);
    await copy.close();
  });

  it('does not change the source file, including its journal mode', async () => {
    for (const mode of ['wal', 'delete']) {
      const from = await filled();
      const database = new Sqlite(pathOf(from));
      database.pragma(`journal_mode = ${mode}`);
      database.close();
      const before = hashOf(pathOf(from));
      assert.equal((await command('copy', from, newUrl())).code, 0);
      assert.equal(hashOf(pathOf(from)), before, mode);
    }
  });

  it('has what was committed while the source is in use', async () => {
    const [from, to] = [newUrl(), newUrl()];
    const service = new DatabaseSessionService(from);
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: createEvent({ id: 'e1', author: 'user' }) });
    const before = hashOf(pathOf(from));
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, row(outcome, 'TO')], [0, [1, 1]]);
    assert.equal(hashOf(pathOf(from)), before);
    await service.close();
  });

  it('of tables that only Python has written adds no table to them', async () => {
    const [from, to] = [await filled(), newUrl()];
    const database = new Sqlite(pathOf(from));
    database.pragma('journal_mode = delete');
    const ours = database
      .prepare(
        "select name from sqlite_master where type = 'table' and name like 'adk_session_wasm%'",
      )
      .pluck()
      .all();
    database.exec(`${ours.map((table) => `drop table ${String(table)};`).join('')}
      delete from adk_internal_metadata where key <> 'schema_version';
      update sessions set state = '{"nan": NaN}' where id = 'old'`);
    database.close();
    const before = hashOf(pathOf(from));
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'TO')], [0, '', [5, 34]]);
    assert.equal(hashOf(pathOf(from)), before);
  });

  it("is made to a file of Python's SqliteSessionService, and back without changing it", async () => {
    const [from, back] = [await filled(), newUrl()];
    const to = newSqliteServiceFile(newPath());
    assert.deepEqual(row(await command('copy', from, to), 'TO'), [5, 34]);
    assert.deepEqual(await contentsOf(to), await withoutNull(contentsOf(from)));
    const before = hashOf(pathOf(to));
    const outcome = await command('copy', to, back);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'TO')], [0, '', [5, 34]]);
    assert.equal(hashOf(pathOf(to)), before);
  });

  it("of a file that only Python's SqliteSessionService has written does not change it", async () => {
    const [path, to] = [newPath(), newUrl()];
    const from = newSqliteServiceFile(path);
    const database = new Sqlite(path);
    const session = database.prepare('insert into sessions values (?, ?, ?, ?, ?, ?)');
    for (const id of ['s1', 's2']) session.run('app', 'ada', id, '{"n": 1}', 1.7e9, 1.7e9);
    database
      .prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)')
      .run('e1', 'app', 'ada', 's1', 'i', 1.7e9, '{"author": "user", "timestamp": 1.7e9}');
    database.close();
    const before = hashOf(path);
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'TO')], [0, '', [2, 1]]);
    assert.equal(hashOf(path), before);
  });

  it('has only the apps that --app names', async () => {
    for (const from of [await filled(), newPath('.jsonl')]) {
      if (from.endsWith('.jsonl')) await command('copy', await filled(), from);
      const to = newUrl();
      const outcome = await command('copy', from, to, '--app', 'other app');
      assert.deepEqual([outcome.code, row(outcome, 'FROM')], [0, [1, 1]]);
      const service = new DatabaseSessionService(to);
      assert.deepEqual(await service.getAppState({ appName: 'app' }), {});
      assert.deepEqual(await service.getAppState({ appName: 'other app' }), { open: true });
      await service.close();
    }
  });

  it('fails if FROM has no session and no state of an app that --app names', async () => {
    const [from, to] = [await filled(), newUrl()];
    const outcome = await command('copy', from, to, '--app', 'App', '--app', 'app');
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /FROM has no app "App"/);
    assert.deepEqual(row(outcome, 'TO'), [4, 33]);
  });

  it('has more users and sessions than are listed at once', async () => {
    const [from, to] = [await withSession('x'), newPath('.jsonl')];
    const database = new Sqlite(pathOf(from));
    const insert = database.prepare(
      "insert into sessions values ('app', ?, ?, '{}', '2024-01-01 00:00:00.000000', '2024-01-01 00:00:00.000000')",
    );
    database.transaction(() => {
      for (let n = 0; n < 1001; n += 1) insert.run(`u${n}`, 's');
      for (let n = 0; n < 1001; n += 1) insert.run('u5', `s${n}`);
    })();
    database.close();
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, row(outcome, 'TO')], [0, [2003, 1]]);
  });
});

/** A file leaves out known fields that are null. */
async function withoutNull(all: Promise<unknown>): Promise<unknown> {
  return JSON.parse(JSON.stringify(await all).replaceAll(/,"branch":null/g, '')) as unknown;
}
