// Copies to targets with data, which is not lost, and of stores that are damaged or missing.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { filled, KEY, newPath, newUrl, pathOf, textIn, withSession } from './sqlite_stores.js';
import { command, contentsOf, row } from './stores.js';

describe('A copy to a database with data', () => {
  it('skips equal sessions', async () => {
    const [from, to] = [await filled(), newUrl()];
    await command('copy', from, to);
    const before = await contentsOf(to);
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(row(outcome, 'TO'), [5, 34]);
    assert.deepEqual(row(outcome, 'new in TO'), [0, 0]);
    assert.deepEqual(await contentsOf(to), before);
  });

  it('names a different session with the same id, leaves it, and copies the others', async () => {
    const [from, to] = [await withSession('theirs'), await withSession('ours')];
    const more = new DatabaseSessionService(from);
    await more.createSession({ ...KEY, sessionId: 's2' });
    await more.close();
    const outcome = await command('copy', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /^session "s1" of "ada" in "app": TO has a different session/);
    assert.deepEqual(row(outcome, 'FROM'), [2, 1]);
    assert.deepEqual(row(outcome, 'TO'), [1, 0]);
    assert.equal(await textIn(to), 'ours');
  });

  it('names a session that differs only in its title', async () => {
    const [from, to] = [await withSession('x'), newUrl()];
    await command('copy', from, to);
    const service = new DatabaseSessionService(to);
    await service.updateSession(KEY, { title: 'Tea' });
    await service.close();
    const { code, err } = await command('copy', from, to);
    assert.equal(code, 1);
    assert.match(err, /session "s1".*different/);
  });

  it('adds missing keys of states, and names keys that differ', async () => {
    const states = (n: number, own: string) => ({
      'user:same': [1, { a: 1 }],
      'user:both': n,
      'app:both': n,
      [`user:${own}`]: n,
      [`app:${own}`]: n,
    });
    const from = await withSession('x', states(1, 'source'));
    const to = await withSession('x', states(2, 'target'));
    const { code, err, ...outcome } = await command('copy', from, to);
    assert.equal(code, 1);
    assert.deepEqual(err.split('\n'), [
      'state of the app "app": TO has another value of "both".',
      'state of the user "ada" in "app": TO has another value of "both".',
      '',
    ]);
    assert.deepEqual(row({ code, err, ...outcome }, 'TO'), [1, 1]);
    const service = new DatabaseSessionService(to);
    assert.deepEqual(await service.getAppState(KEY), { both: 2, target: 2, source: 1 });
    const same = [1, { a: 1 }];
    assert.deepEqual(await service.getUserState(KEY), { same, both: 2, target: 2, source: 1 });
    await service.close();
  });

  it("does not overwrite newer user keys with those of a session's events", async () => {
    const [from, to] = [await filled(), newUrl()];
    await command('copy', from, to);
    const service = new DatabaseSessionService(to);
    const state = await service.getUserState({ appName: 'app', userId: 'ada' });
    assert.deepEqual(state, { name: 'Ada' });
    await service.close();
  });
});

describe('A store that cannot be read', () => {
  it('is named, and its other sessions are copied', async () => {
    const [from, to] = [await filled(), newUrl()];
    const database = new Sqlite(pathOf(from));
    database.exec("update events set event_data = '{broken' where session_id = 'old'");
    database.close();
    const outcome = await command('copy', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /session "old".*corrupt_record/);
    assert.deepEqual(row(outcome, 'TO'), [4, 33]);
  });

  it('is reported if it is missing, empty or of another kind', async () => {
    const empty = newPath();
    new Sqlite(empty).close();
    const missing = newUrl();
    for (const [from, message] of [
      [missing, /unable to open.*storage_unavailable/],
      [newPath('.json'), /ENOENT/],
      [`sqlite:${empty}`, /has no sessions.*storage_unavailable/],
    ] as const) {
      const to = newPath('.jsonl');
      const outcome = await command('copy', from, to);
      assert.equal(outcome.code, 1);
      assert.match(outcome.err, message);
      assert.ok(!existsSync(to));
    }
    assert.ok(!existsSync(pathOf(missing)));
  });
});
