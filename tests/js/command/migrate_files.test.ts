import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import { NOT_RECORDED, pythonSession, RECORDED } from '../files/python_session.js';
import { newPath, newUrl } from './sqlite_stores.js';
import { command, row } from './stores.js';

describe('A migration of session files', () => {
  it("reads Python's names and seconds", async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    writeFileSync(from, JSON.stringify(pythonSession, undefined, 2));
    const outcome = await command('migrate', from, to);
    assert.deepEqual([outcome.code, outcome.err, row(outcome, 'verified')], [0, '', [1, 4]]);
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
    for (const [end, indent] of [
      ['.json', 2],
      ['.jsonl', 0],
    ] as const) {
      const from = newPath(end);
      writeFileSync(from, JSON.stringify(session, undefined, indent).replace('"N"', 'NaN'));
      assert.deepEqual(row(await command('migrate', from, newUrl()), 'verified'), [1, 4]);
    }
  });

  it('copies recorded files exactly', { skip: NOT_RECORDED }, async () => {
    const [to, file] = [newUrl(), newPath('.jsonl')];
    assert.equal((await command('migrate', RECORDED, to)).code, 0);
    assert.equal((await command('migrate', to, file)).code, 0);
    const outcome = await command('migrate', RECORDED, file);
    assert.equal(outcome.code, 0);
    assert.equal(row(outcome, 'there already')[0], 1);
  });

  it('copies all session files of a folder, and no others', async () => {
    const [from, to] = [newPath('.folder'), newUrl()];
    mkdirSync(from);
    for (const id of ['a', 'b']) {
      writeFileSync(join(from, `${id}.json`), JSON.stringify({ ...pythonSession, id }));
    }
    const lines = ['c', 'd'].map((id) => JSON.stringify({ ...pythonSession, id }));
    writeFileSync(join(from, 'more.jsonl'), `${lines.join('\n')}\n`);
    writeFileSync(join(from, 'broken.json'), '{"id": "x",');
    writeFileSync(join(from, 'binary.json'), Buffer.from([0xff, 0xfe, 0x00]));
    writeFileSync(join(from, 'notes.txt'), 'not asked');
    mkdirSync(join(from, 'folder.json'));
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 1);
    assert.deepEqual(row(outcome, 'verified'), [4, 16]);
    assert.deepEqual(row(outcome, 'failed'), [2]);
    assert.match(outcome.err, /broken\.json: .*not JSON/);
    assert.match(outcome.err, /binary\.json: .*not UTF-8/);
  });

  it('copies events without ids, and a second run finds them the same', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    const events = pythonSession.events.map((event) => ({ ...event, id: undefined }));
    writeFileSync(from, JSON.stringify({ ...pythonSession, events }));
    assert.deepEqual(row(await command('migrate', from, to), 'copied'), [1, 4]);
    assert.deepEqual(row(await command('migrate', from, to), 'there already'), [1, 4]);
  });

  it('uses the stated unit', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    const event = { ...pythonSession.events[0], timestamp: 10 };
    writeFileSync(
      from,
      JSON.stringify({ ...pythonSession, last_update_time: 10, events: [event] }),
    );
    assert.equal((await command('migrate', from, to)).code, 1);
    assert.equal((await command('migrate', from, to, '--time-unit', 'seconds')).code, 0);
  });

  it('reports a damaged first line, and copies the lines after it', async () => {
    const [from, to] = [newPath('.jsonl'), newUrl()];
    const lines = ['a', 'b'].map((id) => JSON.stringify({ ...pythonSession, id }));
    writeFileSync(from, ['{"format":"adk-ses', ...lines].join('\n'));
    const outcome = await command('migrate', from, to);
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /line 1: .*not JSON/);
    assert.deepEqual(row(outcome, 'verified'), [2, 8]);
  });

  it('reads a session whose events have a line each', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    const { events, ...head } = pythonSession;
    const begin = JSON.stringify(head).slice(0, -1);
    const lines = events.map((event) => JSON.stringify(event));
    writeFileSync(from, `${begin},"events":[\n${lines.join(',\n')}\n]}`);
    assert.deepEqual(row(await command('migrate', from, to), 'verified'), [1, 4]);
  });

  for (const end of ['.json', '.jsonl']) {
    it(`reports an empty ${end} file`, async () => {
      const from = newPath(end);
      writeFileSync(from, '\n');
      const { code, err } = await command('migrate', from, newUrl());
      assert.equal(code, 1);
      assert.match(err, /is empty/);
    });
  }

  it('names the link of a folder that leads nowhere', async () => {
    const from = newPath('.folder');
    mkdirSync(from);
    symlinkSync('nowhere', join(from, 'link.json'));
    const { code, err } = await command('migrate', from, newUrl());
    assert.equal(code, 1);
    assert.match(err, /link\.json.*ENOENT/);
  });

  it('refuses the same folder under another name as TO, and adds no file to it', async () => {
    const from = newPath('.folder');
    mkdirSync(from);
    writeFileSync(join(from, 'a.json'), JSON.stringify(pythonSession));
    symlinkSync(from, `${from}.link`);
    for (const to of [`${from}/`, `${from}.link`]) {
      const { code, err } = await command('migrate', from, to);
      assert.equal(code, 2);
      assert.match(err, /TO must not be FROM/);
    }
    assert.deepEqual(readdirSync(from), ['a.json']);
  });

  it('refuses the same SQLite file under another spelling as TO', async () => {
    const path = newPath();
    const { code, err } = await command('migrate', `sqlite:${path}`, `sqlite+aiosqlite:///${path}`);
    assert.equal(code, 2);
    assert.match(err, /TO must not be FROM/);
    assert.equal(existsSync(path), false);
  });

  it('fails if FROM has no session and no state of an app that --app names', async () => {
    const [from, to] = [newPath('.json'), newUrl()];
    writeFileSync(from, JSON.stringify(pythonSession));
    const outcome = await command('migrate', from, to, '--app', 'Shop', '--app', 'shop');
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /FROM has no app "Shop"/);
    assert.deepEqual(row(outcome, 'verified'), [1, 4]);
    const again = await command('migrate', to, newUrl(), '--app', 'Shop');
    assert.equal(again.code, 1);
    assert.match(again.err, /FROM has no app "Shop"/);
  });
});
