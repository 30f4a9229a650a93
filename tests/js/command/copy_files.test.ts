// Copies of session files of other ADKs.

import assert from 'node:assert/strict';
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { pythonSession, RECORDED } from '../service/files/python_session.js';
import { newPath, newUrl, withSession } from './sqlite_stores.js';
import { command, row } from './stores.js';

describe('A copy of a session file', () => {
  it("reads Python's names and seconds", async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    writeFileSync(from, JSON.stringify(pythonSession, undefined, 2));
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'TO')], [0, '', [1, 4]]);
    const service = new DatabaseSessionService(to);
    const key = { appName: 'shop', userId: 'ada', sessionId: 's-1' };
    const session = await service.getSession(key);
    assert.deepEqual(session?.state, { seed_key: { nested_key: 1 }, 'user:user_name': 'Ada' });
    assert.equal(session?.lastUpdateTime, 1741218417250);
    assert.deepEqual(
      session?.events.map(({ timestamp }) => timestamp),
      [1741218414968.405, 1741218415500, 1741218416000, 1741218417000],
    );
    await service.close();
  });

  it("reads NaN of Python's json module as null, in JSON Lines and in one session", async () => {
    const session = { ...pythonSession, state: { n: 'N' } };
    for (const indent of [2, 0]) {
      const from = newPath('.json');
      writeFileSync(from, JSON.stringify(session, undefined, indent).replace('"N"', 'NaN'));
      assert.deepEqual(row(await command('copy', from, newUrl()), 'TO'), [1, 4]);
    }
  });

  it('is equal to a recorded file', async () => {
    const [to, file] = [newUrl(), newPath('.jsonl')];
    assert.equal((await command('copy', RECORDED, to)).code, 0);
    assert.equal((await command('copy', to, file)).code, 0);
    assert.deepEqual(row(await command('copy', file, to), 'new in TO'), [0, 0]);
    assert.equal((await command('copy', RECORDED, to)).code, 0);
  });

  it('finds events without ids the same at a second run', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    const events = pythonSession.events.map((event) => ({ ...event, id: undefined }));
    writeFileSync(from, JSON.stringify({ ...pythonSession, events }));
    assert.deepEqual(row(await command('copy', from, to), 'new in TO'), [1, 4]);
    const again = await command('copy', from, to);
    assert.deepEqual([again.code, row(again, 'TO'), row(again, 'new in TO')], [0, [1, 4], [0, 0]]);
  });

  it('refuses a session without an id, which each run would store again', async () => {
    const from = newPath('.json');
    writeFileSync(from, JSON.stringify({ ...pythonSession, id: undefined }));
    const { code, err } = await command('copy', from, newUrl());
    assert.equal(code, 1);
    assert.match(err, /id is missing; add an id/);
  });

  it('reports a damaged line, and copies the others', async () => {
    const [from, to] = [newPath('.jsonl'), newUrl()];
    const lines = ['a', 'b'].map((id) => JSON.stringify({ ...pythonSession, id }));
    writeFileSync(from, [lines[0], '{"id":"x",', lines[1]].join('\n'));
    const outcome = await command('copy', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /line 2: .*not JSON/);
    assert.deepEqual(row(outcome, 'TO'), [2, 8]);
  });

  it('reads a session whose events have a line each', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    const { events, ...head } = pythonSession;
    const begin = JSON.stringify(head).slice(0, -1);
    const lines = events.map((event) => JSON.stringify(event));
    writeFileSync(from, `${begin},"events":[\n${lines.join(',\n')}\n]}`);
    assert.deepEqual(row(await command('copy', from, to), 'TO'), [1, 4]);
  });

  it('fails if the file is no text', async () => {
    const from = newPath('.json');
    writeFileSync(from, Buffer.from([0xff, 0xfe, 0x00]));
    const { code, err } = await command('copy', from, newUrl());
    assert.equal(code, 1);
    assert.match(err, /not UTF-8/);
  });
});

describe('A copy to a file', () => {
  it('refuses a file that exists, and leaves it as it is', async () => {
    const [from, to] = [await withSession('x'), newPath('.jsonl')];
    writeFileSync(to, 'precious');
    const { code, err } = await command('copy', from, to);
    assert.equal(code, 1);
    assert.match(err, /TO exists; name a new file/);
    assert.equal(readFileSync(to, 'utf8'), 'precious');
  });

  it('that fails leaves no file', async () => {
    const [from, to] = [newPath('.json'), newPath('.jsonl')];
    writeFileSync(from, Buffer.from([0xff, 0xfe, 0x00]));
    assert.equal((await command('copy', from, to)).code, 1);
    assert.deepEqual([existsSync(to), existsSync(`${to}.part`)], [false, false]);
  });

  it('does not write through a link that is where an interrupted copy left its file', async () => {
    const [from, to, victim] = [await withSession('x'), newPath('.jsonl'), newPath('.txt')];
    writeFileSync(victim, 'precious');
    symlinkSync(victim, `${to}.part`);
    assert.equal((await command('copy', from, to)).code, 0);
    assert.equal(readFileSync(victim, 'utf8'), 'precious');
    assert.equal(lstatSync(to).isSymbolicLink(), false);
  });

  it('names the file system’s error', async () => {
    const outcome = await command('copy', await withSession('x'), newPath('x'.repeat(300)));
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /ENAMETOOLONG/);
  });
});
