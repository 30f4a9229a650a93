// Migrations between SQLite files and session files: all data is copied.

import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { importSession, importSessions } from '../../../js/files/index.js';
import { createEvent, InMemorySessionService } from '../../../js/index.js';
import { newSqliteServiceFile } from '../database/tables/sqlite_service_tables.js';
import { filled, KEY, newPath, newUrl, pathOf, withSession } from './sqlite_stores.js';
import { command, contents, contentsOf, hashOf, row } from './stores.js';

function rowsIn(url: string, query: string): unknown[] {
  const database = new Sqlite(pathOf(url), { readonly: true });
  const rows = database.prepare(query).all();
  database.close();
  return rows;
}

describe('A database migration', () => {
  it('copies sessions, events in order and states to another database', async () => {
    const [from, to] = [await filled(), newUrl()];
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(row(outcome, 'copied'), [5, 34]);
    assert.deepEqual(row(outcome, 'verified'), [5, 34]);
    assert.deepEqual(await contentsOf(to), await contentsOf(from));
  });

  it('copies the rows of events exactly, with their times', async () => {
    const [from, to] = [await filled(), newUrl()];
    await command('migrate', from, to);
    // At which revision one was replaced is each database's own.
    const query = `select app_name, user_id, session_id, id, invocation_id, event_data from events
      where id <> 'e3' order by app_name, user_id, session_id, rowid`;
    assert.deepEqual(rowsIn(to, query), rowsIn(from, query));
    const time = "select timestamp from events where user_id like 'bob%'";
    assert.deepEqual(rowsIn(to, time), [{ timestamp: '2023-11-14 22:13:20.000001' }]);
    const growing = "select id from events where session_id = 'long' order by timestamp, id";
    assert.equal(JSON.stringify(rowsIn(to, growing)), JSON.stringify(rowsIn(from, growing)));
  });

  it('writes a file of JSON Lines that importSessions reads, and reads it back', async () => {
    const [from, file, to] = [await filled(), newPath('.jsonl'), newUrl()];
    const there = await command('migrate', from, file);
    assert.deepEqual([there.code, row(there, 'verified')], [0, [5, 34]]);
    const back = await command('migrate', file, to);
    assert.deepEqual([back.code, back.err, row(back, 'verified')], [0, '', [5, 34]]);
    const memory = new InMemorySessionService();
    for await (const { error } of importSessions(memory, readFileSync(file, 'utf8'))) {
      assert.equal(error, undefined);
    }
    assert.deepEqual(await contentsOf(to), await withoutNull(contentsOf(from)));
    const imported = (await contents(memory)) as { states: unknown }[];
    const migrated = (await contentsOf(to)) as { states: unknown }[];
    assert.deepEqual(imported[0]?.states, migrated[0]?.states);
  });

  it('writes a folder of session files, and reads it back, including states of users without sessions', async () => {
    const [from, to, back] = [await filled(), `${newPath('.folder')}/`, newUrl()];
    assert.deepEqual(row(await command('migrate', from, to), 'verified'), [5, 34]);
    assert.equal(readdirSync(to).length, 6);
    const [name = ''] = readdirSync(to).filter((name) => name.startsWith('old.'));
    const memory = new InMemorySessionService();
    const old = await importSession(memory, readFileSync(join(to, name), 'utf8'));
    assert.deepEqual([old.id, old.state.topic], ['old', 'coffee']);
    assert.deepEqual(row(await command('migrate', from, to), 'there already'), [5, 34]);
    const outcome = await command('migrate', to, back);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(await contentsOf(back), await withoutNull(contentsOf(from)));
  });

  it('copies initial states through a file of JSON Lines, and leaves them out of session files', async () => {
    const from = await withSession('hi', { a: [1] });
    const initialStateIn = async (url: string) => {
      const service = new DatabaseSessionService(url);
      const { initialState } = await service.sessionInfo(KEY);
      await service.close();
      return initialState;
    };
    const results: unknown[] = [await initialStateIn(from)];
    for (const through of [newPath('.jsonl'), `${newPath('.folder')}/`]) {
      const to = newUrl();
      assert.equal((await command('migrate', from, through)).code, 0);
      assert.equal((await command('migrate', through, to)).code, 0);
      results.push(await initialStateIn(to));
    }
    assert.deepEqual(results, [{ a: [1] }, { a: [1] }, undefined]);
  });

  it('copies events to files without `temp:` keys that another program stored', async () => {
    const from = await withSession('hi');
    const database = new Sqlite(pathOf(from));
    database.exec(`update events set event_data =
      json_set(event_data, '$.actions.state_delta', json('{"temp:x": 1, "y": 2}'))`);
    database.close();
    for (const to of [newPath('.jsonl'), `${newPath('.folder')}/`]) {
      for (const name of ['copied', 'there already']) {
        const outcome = await command('migrate', from, to);
        assert.deepEqual([outcome.err, row(outcome, name)], ['', [1, 1]]);
      }
    }
  });

  it('does not write through a link in the target folder', async () => {
    const [from, to, victim] = [await filled(), `${newPath('.folder')}/`, newPath('.txt')];
    await command('migrate', from, to);
    const names = readdirSync(to).filter((name) => name.endsWith('.session.json'));
    writeFileSync(victim, 'precious');
    for (const name of names) {
      rmSync(join(to, name));
      symlinkSync(victim, join(to, `${name}.part`));
    }
    assert.equal((await command('migrate', from, to)).code, 0);
    assert.equal(readFileSync(victim, 'utf8'), 'precious');
    const isLink = (name: string) => lstatSync(join(to, name)).isSymbolicLink();
    assert.deepEqual(readdirSync(to).filter(isLink), []);
  });

  it('names no file so that a program takes it for an option', async () => {
    const [from, to] = [newUrl(), `${newPath('.folder')}/`];
    const service = new DatabaseSessionService(from);
    for (const sessionId of ['-rf', '--', '.hidden', '..', '-.-']) {
      await service.createSession({ ...KEY, sessionId });
    }
    await service.close();
    assert.deepEqual(row(await command('migrate', from, to), 'verified'), [5, 0]);
    for (const name of readdirSync(to)) assert.match(name, /^[\w]/);
  });

  it('does not change the source file, including its journal mode', async () => {
    for (const mode of ['wal', 'delete']) {
      const from = await filled();
      const database = new Sqlite(pathOf(from));
      database.pragma(`journal_mode = ${mode}`);
      database.close();
      const before = hashOf(pathOf(from));
      assert.equal((await command('migrate', from, newUrl())).code, 0);
      assert.equal(hashOf(pathOf(from)), before, mode);
    }
  });

  it('copies committed data while the source is in use', async () => {
    const [from, to] = [newUrl(), newUrl()];
    const service = new DatabaseSessionService(from);
    const session = await service.createSession(KEY);
    const say = (id: string) =>
      service.appendEvent({ session, event: createEvent({ id, author: 'user' }) });
    await say('e1');
    const before = hashOf(pathOf(from));
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, row(outcome, 'verified')], [0, [1, 1]]);
    assert.equal(hashOf(pathOf(from)), before);
    await say('e2');
    const again = await command('migrate', from, to, '--overwrite');
    assert.deepEqual([again.code, row(again, 'copied')], [0, [1, 2]]);
    await service.close();
  });

  it('reads a source that only Python has written, and adds no table to it', async () => {
    const [from, to] = [await filled(), newUrl()];
    const database = new Sqlite(pathOf(from));
    database.pragma('journal_mode = delete');
    // Python's tables: without the package's own table, and with Python's numbers.
    database.exec(`drop table adk_session_wasm_sessions; drop table adk_session_wasm_details; drop table adk_session_wasm_terms;
      delete from adk_internal_metadata where key <> 'schema_version';
      update sessions set state = '{"big": 12345678901234567890, "nan": NaN}' where id = 'old'`);
    database.close();
    const before = hashOf(pathOf(from));
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, row(outcome, 'verified')], [0, [5, 34]]);
    assert.equal(hashOf(pathOf(from)), before);
    const target = new Sqlite(pathOf(to), { readonly: true });
    const state = target.prepare("select state from sessions where id = 'old'").pluck().get();
    assert.match(String(state), /"big": ?12345678901234567890/);
    target.close();
  });

  it('writes numbers to a file as JavaScript has them, and a second run finds them the same', async () => {
    const [from, file] = [await filled(), newPath('.jsonl')];
    const database = new Sqlite(pathOf(from));
    database.exec(`update sessions set state = '{"big": 12345678901234567890}' where id = 'old';
      update app_states set state = '{"big": 12345678901234567890}'`);
    database.close();
    assert.equal((await command('migrate', from, file)).code, 0);
    const outcome = await command('migrate', from, file);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(row(outcome, 'there already'), [5, 34]);
  });

  it("copies to a file of Python's SqliteSessionService and back, without changing it", async () => {
    const [from, back] = [await filled(), newUrl()];
    const to = newSqliteServiceFile(newPath());
    assert.deepEqual(row(await command('migrate', from, to), 'verified'), [5, 34]);
    assert.deepEqual(await contentsOf(to), await contentsOf(from));
    const database = new Sqlite(pathOf(to));
    // The state after Python has closed it.
    database.exec('drop table adk_session_wasm_sessions');
    database.pragma('journal_mode = delete');
    database.close();
    const before = hashOf(pathOf(to));
    const outcome = await command('migrate', to, back);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'verified')], [0, '', [5, 34]]);
    assert.equal(hashOf(pathOf(to)), before);
  });

  it("copies a file that only Python's SqliteSessionService has written, without changing it", async () => {
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
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'verified')], [0, '', [2, 1]]);
    assert.equal(hashOf(path), before);
  });

  it('closes the target if the source cannot be closed', async () => {
    const [from, to] = [await filled(), newUrl()];
    const closed: string[] = [];
    const close = Object.getOwnPropertyDescriptor(Sqlite.prototype, 'close')!;
    const closeFile = close.value as (this: Sqlite.Database) => void;
    Sqlite.prototype.close = function (this: Sqlite.Database) {
      closed.push(this.name);
      closeFile.call(this);
      if (this.name === pathOf(from)) throw new Error('disk on fire');
      return this;
    };
    try {
      const { code, err } = await command('migrate', from, to);
      assert.equal(code, 1);
      assert.match(err, /disk on fire/);
    } finally {
      Object.defineProperty(Sqlite.prototype, 'close', close);
    }
    assert.ok(closed.includes(pathOf(to)), closed.join());
  });

  it('copies only the named apps', async () => {
    const [from, to] = [await filled(), newUrl()];
    const outcome = await command('migrate', from, to, '--app', 'other app');
    assert.deepEqual([outcome.code, row(outcome, 'copied')], [0, [1, 1]]);
    const service = new DatabaseSessionService(to);
    assert.deepEqual(await service.getAppState({ appName: 'app' }), {});
    assert.deepEqual(await service.getAppState({ appName: 'other app' }), { open: true });
    await service.close();
  });

  it('copies more users and sessions than one page holds', async () => {
    const [from, to] = [newUrl(), newUrl()];
    await (await openedOnce(from)).close();
    const database = new Sqlite(pathOf(from));
    const insert = database.prepare(
      "insert into sessions values ('app', ?, ?, '{}', '2024-01-01 00:00:00.000000', '2024-01-01 00:00:00.000000')",
    );
    database.transaction(() => {
      for (let n = 0; n < 1001; n += 1) insert.run(`u${n}`, 's');
      for (let n = 0; n < 1001; n += 1) insert.run('u5', `s${n}`);
    })();
    database.close();
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, row(outcome, 'verified')], [0, [2002, 0]]);
  });
});

/** A file leaves out known fields that are null. */
async function withoutNull(all: Promise<unknown>): Promise<unknown> {
  return JSON.parse(JSON.stringify(await all).replaceAll(/,"branch":null/g, '')) as unknown;
}

async function openedOnce(url: string): Promise<DatabaseSessionService> {
  const service = new DatabaseSessionService(url);
  await service.open();
  return service;
}
