// The usage of the command and its output, which never has a password.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { command } from './stores.js';
import { newFolder } from '../../new_folder.js';

const folder = newFolder();
const from = `sqlite:${join(folder, 'from.db')}`;

async function oneSession(): Promise<void> {
  const service = new DatabaseSessionService(from);
  await service.getOrCreateSession({ appName: 'app', userId: 'ada', sessionId: 's1' });
  await service.close();
}

describe('Wrong usage', () => {
  const wrong: [title: string, args: string[], message: RegExp][] = [
    ['no command', [], /must be copy.*\(invalid_argument\)/],
    ['an unknown command', ['s3cret'], /must be copy/],
    ['no TO', ['copy', from], /takes FROM and TO; there are 1/],
    ['one argument too many', ['copy', from, 'to.jsonl', 's3cret'], /there are 3/],
    ['an unknown option', ['copy', from, 'to.jsonl', '--s3cret'], /--help/],
    ['an option without its value', ['copy', from, 'to.jsonl', '--app'], /--help/],
    ['an empty name', ['copy', '', 'to.jsonl'], /FROM must not be empty/],
    ['an unknown database', ['copy', 'redis://ada:s3cret@host', 'to.jsonl'], /FROM must be/],
    ['an invalid URL', ['copy', from, 'mysql://ada:s3cret#@host/db'], /percent-encoded/],
    ['SQLite in memory', ['copy', from, 'sqlite::memory:'], /TO must not be a database in memory/],
    ['a database of a browser', ['copy', 'indexeddb:shop', from], /FROM must be.*exportSessions/],
    ['Vertex AI', ['copy', from, 'agentengine://s3cret'], /TO must be.*importSessions/],
    ['a schema of a file', ['copy', from, 'to.jsonl', '--to-schema', 'a'], /TO is a file/],
    ['a prefix of a file', ['copy', 'f.jsonl', from, '--from-table-prefix', 'a'], /FROM is a file/],
    ['a schema of SQLite', ['copy', from, 'to.jsonl', '--from-schema', 'a'], /not for SQLite/],
    [
      'a prefix that is no name',
      ['copy', from, 'to.jsonl', '--from-table-prefix', 'a-b'],
      /must be of letters/,
    ],
    ['an option of schema', ['copy', from, 'to.jsonl', '--schema', 'a'], /--schema is not for/],
    ['an option of copy', ['schema', 'sqlite', '--app', 'a'], /--app is not for/],
  ];
  for (const [title, args, message] of wrong) {
    it(`is reported without showing an argument, with exit code 2: ${title}`, async () => {
      await oneSession();
      const { code, out, err } = await command(...args);
      assert.equal(code, 2);
      assert.equal(out, '');
      assert.match(err, message);
      assert.doesNotMatch(err, /s3cret/);
    });
  }
});

it('--help prints the usage', async () => {
  const { code, out } = await command('copy', '--help');
  assert.equal(code, 0);
  assert.match(out, /^Usage: adk-session-wasm copy FROM TO/);
});

it('--version prints the version of the package', async () => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  assert.deepEqual(await command('--version'), { code: 0, out: `${version}\n`, err: '' });
});

it("a password does not appear in a driver's error", async () => {
  await oneSession();
  for (const scheme of ['postgresql', 'mysql', 'mariadb']) {
    const url = `${scheme}://ada:s3cret@127.0.0.1:1/db?password=s3cret`;
    for (const args of [
      [url, join(folder, 'to.jsonl')],
      [from, url],
    ]) {
      const { code, out, err } = await command('copy', ...args);
      assert.equal(code, 1);
      assert.match(err, /ECONNREFUSED.*\(storage_unavailable\)/);
      assert.doesNotMatch(out + err, /s3cret/);
    }
  }
});

it('the output counts what both sides have', async () => {
  await oneSession();
  const { code, out, err } = await command('copy', from, join(folder, 'counted.jsonl'));
  assert.deepEqual([code, err], [0, '']);
  assert.equal(
    out,
    [
      '           sessions    events',
      'FROM              1         0',
      'TO                1         0',
      'new in TO         1         0',
      '',
    ].join('\n'),
  );
});
