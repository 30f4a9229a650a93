// Migrations to targets with data, which is not lost, and of stores that are damaged or missing.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { FileTarget } from '../../../js/command/stores/file_target.js';
import { toSessionCopy } from '../../../js/command/stores/session_copy.js';
import { filled, KEY, newPath, newUrl, pathOf, textIn, withSession } from './sqlite_stores.js';
import { command, contentsOf, fill, hashOf, row } from './stores.js';

describe('A migration to a target with data', () => {
  it('skips sessions that are the same', async () => {
    const [from, to] = [await filled(), newUrl()];
    await command('migrate', from, to);
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 0);
    assert.deepEqual(row(outcome, 'copied'), [0, 0]);
    assert.deepEqual(row(outcome, 'there already'), [5, 34]);
    assert.deepEqual(await contentsOf(to), await contentsOf(from));
  });

  it('reports a different session with the same id, and copies the others', async () => {
    const [from, to] = [await withSession('theirs'), await withSession('ours')];
    const more = new DatabaseSessionService(from);
    await more.createSession({ ...KEY, sessionId: 's2' });
    await more.close();
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /^session "s1" of "ada" in "app": .*a different session/);
    assert.deepEqual(row(outcome, 'copied'), [1, 0]);
    assert.deepEqual(row(outcome, 'failed'), [1]);
    assert.equal(await textIn(to), 'ours');
  });

  it('replaces a different session with the same id if asked to', async () => {
    const [from, to] = [await withSession('theirs'), await withSession('ours')];
    const outcome = await command('migrate', from, to, '--overwrite');
    assert.deepEqual([outcome.code, row(outcome, 'verified')], [0, [1, 1]]);
    assert.equal(await textIn(to), 'theirs');
  });

  it('keeps the old session if its replacement cannot be written', async () => {
    const [from, to] = [await withSession('theirs'), await withSession('ours')];
    const database = new Sqlite(pathOf(to));
    database.exec(`create trigger refuses before insert on events
      begin select raise(abort, 'no more events'); end`);
    database.close();
    const outcome = await command('migrate', from, to, '--overwrite');
    assert.notEqual(outcome.code, 0);
    assert.equal(await textIn(to), 'ours');
  });

  it('adds missing keys of states, and reports keys that differ', async () => {
    const states = (n: number, own: string) => ({
      'user:same': [1, { a: 1 }],
      'user:both': n,
      'app:both': n,
      [`user:${own}`]: n,
      [`app:${own}`]: n,
    });
    const from = await withSession('x', states(1, 'source'));
    const to = await withSession('x', states(2, 'target'));
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /state of the app "app": .*"both"/);
    assert.match(outcome.err, /state of the user "ada" in "app": .*"both"/);
    assert.match(outcome.out, /keys of state that differ +2/);
    const service = new DatabaseSessionService(to);
    assert.deepEqual(await service.getAppState(KEY), { both: 2, target: 2, source: 1 });
    assert.deepEqual(await service.getUserState(KEY), {
      same: [1, { a: 1 }],
      both: 2,
      target: 2,
      source: 1,
    });
    assert.equal((await command('migrate', from, to, '--overwrite')).code, 0);
    assert.deepEqual(await service.getAppState(KEY), { both: 1, target: 2, source: 1 });
    await service.close();
  });

  it("does not overwrite newer user keys with those of a session's events", async () => {
    const [from, to] = [await filled(), newUrl()];
    await command('migrate', from, to);
    const service = new DatabaseSessionService(to);
    assert.deepEqual(await service.getUserState({ appName: 'app', userId: 'ada' }), {
      name: 'Ada',
    });
    await service.close();
  });

  it('does not change a file of another kind', async () => {
    const from = await withSession('x');
    const others = {
      'no-line-end': 'something',
      lines: '{"id":"s1"}\n{"id":"s2"}\n',
      pretty: '{\n  "id": "s1"\n}\n',
      database: readFileSync(pathOf(from)),
    };
    for (const [name, content] of Object.entries(others)) {
      const path = newPath(`.${name}`);
      writeFileSync(path, content);
      const before = hashOf(path);
      const outcome = await command('migrate', from, path);
      assert.equal(outcome.code, 1, name);
      assert.match(outcome.err, /was not written by exportSessions/);
      assert.equal(hashOf(path), before);
    }
  });

  it('does not write over the lines of another run into the same file', async () => {
    const [file, to] = [newPath('.jsonl'), newUrl()];
    const copyOf = (sessionId: string) => {
      const session = { ...KEY, id: sessionId, state: {}, events: [], lastUpdateTime: 0 };
      return toSessionCopy({ session, initialState: undefined });
    };
    const [one, other] = [new FileTarget(file), new FileTarget(file)];
    await one.open();
    await other.open();
    assert.ok(await one.create(copyOf('one')));
    await one.close();
    await assert.rejects(other.create(copyOf('other')), { code: 'storage_unavailable' });
    await other.close();
    const outcome = await command('migrate', file, to);
    assert.deepEqual([outcome.err, row(outcome, 'verified')], ['', [1, 0]]);
    const service = new DatabaseSessionService(to);
    assert.ok(await service.getSession({ ...KEY, sessionId: 'one' }));
    await service.close();
  });

  it('continues a file without its final line end', async () => {
    const [from, file] = [await withSession('x'), newPath('.jsonl')];
    await command('migrate', from, file);
    writeFileSync(file, readFileSync(file, 'utf8').trimEnd());
    const other = newUrl();
    await fill(other);
    const outcome = await command('migrate', other, file);
    assert.deepEqual([outcome.code, row(outcome, 'copied')], [0, [5, 34]]);
    assert.equal((await command('migrate', file, newUrl())).code, 0);
  });
});

describe('A store that cannot be read or written', () => {
  it('is reported, and the other data is copied', async () => {
    const [from, to] = [await filled(), newUrl()];
    const database = new Sqlite(pathOf(from));
    database.exec("update events set event_data = '{broken' where session_id = 'old'");
    database.close();
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /session "old".*corrupt_record/);
    assert.deepEqual(row(outcome, 'verified'), [4, 33]);
  });

  it('is reported if the path of the target is too long', async () => {
    const outcome = await command('migrate', await filled(), newPath('x'.repeat(300)));
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /cannot be used: ENAMETOOLONG\. \(storage_unavailable\)/);
  });

  it('is reported if it is missing, empty or of another kind', async () => {
    const empty = newPath();
    new Sqlite(empty).close();
    const missing = newUrl();
    for (const [from, code] of [
      [missing, /unable to open.*storage_unavailable/],
      [newPath('.json'), /ENOENT.*storage_unavailable/],
      [`sqlite:${empty}`, /has no sessions.*storage_unavailable/],
    ] as const) {
      const to = newPath('.jsonl');
      const outcome = await command('migrate', from, to);
      assert.equal(outcome.code, 1);
      assert.match(outcome.err, code);
      assert.ok(!existsSync(to));
    }
    assert.ok(!existsSync(pathOf(missing)));
  });
});
