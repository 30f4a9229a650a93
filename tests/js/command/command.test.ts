// The usage of the command and its output: progress, and never a password.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { type MigrateOptions, type MigrateResult } from '../../../js/command/migrate.js';
import { describeStore } from '../../../js/command/stores/location.js';
import { Progress } from '../../../js/command/progress.js';
import { DatabaseSessionService } from '../../../js/database/index.js';
import { command, newFolder } from './stores.js';

const folder = newFolder();
const from = `sqlite:${join(folder, 'from.db')}`;

async function oneSession(): Promise<void> {
  const service = new DatabaseSessionService(from);
  await service.getOrCreateSession({ appName: 'app', userId: 'ada', sessionId: 's1' });
  await service.close();
}

describe('Wrong usage', () => {
  const wrong: [title: string, args: string[], message: RegExp][] = [
    ['no command', [], /must be migrate.*\(invalid_argument\)/],
    ['an unknown command', ['s3cret'], /must be migrate/],
    ['no TO', ['migrate', from], /takes FROM and TO; there are 1/],
    ['one argument too many', ['migrate', from, 'to.jsonl', 's3cret'], /there are 3/],
    ['an unknown option', ['migrate', from, 'to.jsonl', '--s3cret'], /--help/],
    ['an option without its value', ['migrate', from, 'to.jsonl', '--app'], /--help/],
    ['an unknown unit', ['migrate', from, 'to.jsonl', '--time-unit', 'years'], /seconds/],
    [
      'a unit of a database',
      ['migrate', from, 'to.jsonl', '--time-unit', 'seconds'],
      /--time-unit applies only to files; FROM is/,
    ],
    ['the same store twice', ['migrate', from, from], /must not be FROM/],
    ['an empty name', ['migrate', '', 'to.jsonl'], /FROM must not be empty/],
    ['an unknown database', ['migrate', 'redis://ada:s3cret@host', 'to.jsonl'], /FROM must be/],
    ['an invalid URL', ['migrate', from, 'mysql://ada:s3cret#@host/db'], /percent-encoded/],
    ['memory', ['migrate', 'memory://', 'to.jsonl'], /FROM must not be a store in memory/],
    ['SQLite in memory', ['migrate', from, 'sqlite::memory:'], /TO must not be a store in memory/],
    ['a database of a browser', ['migrate', 'indexeddb:shop', from], /exportSessions.*unsupported/],
    ['Vertex AI', ['migrate', from, 'agentengine://123'], /TO is an agent engine.*unsupported/],
    [
      'an agent engine to copy from',
      ['migrate', 'agentengine://123', 'to.jsonl'],
      /FROM is an agent engine, which lists neither apps.*unsupported/,
    ],
    [
      'no agent engine',
      ['migrate', 'agentengine://s3cret', 'to.jsonl'],
      /must have an agent engine/,
    ],
    [
      'a schema of a file',
      ['migrate', from, 'to.jsonl', '--to-schema', 'a'],
      /--to-schema applies only to databases; TO is/,
    ],
    [
      'a prefix of a file',
      ['migrate', 'to.jsonl', from, '--from-table-prefix', 'a'],
      /FROM is a file/,
    ],
    ['a schema of SQLite', ['migrate', from, 'to.jsonl', '--from-schema', 'a'], /not for SQLite/],
    [
      'a prefix that is no name',
      ['migrate', from, 'to.jsonl', '--from-table-prefix', 'a-b'],
      /must be of letters/,
    ],
    ['an option of schema', ['migrate', from, 'to.jsonl', '--schema', 'a'], /--schema is not for/],
    ['an option of migrate', ['schema', 'sqlite', '--quiet'], /--quiet is not for/],
    [
      'a file URL of another computer',
      ['migrate', 'file://s3cret/from.jsonl', 'to.jsonl'],
      /FROM must be the file URL of a local path, without a host.*invalid_argument/,
    ],
    [
      'to overwrite a file',
      ['migrate', from, 'to.jsonl', '--overwrite'],
      /works only for a database/,
    ],
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
  const { code, out } = await command('migrate', '--help');
  assert.equal(code, 0);
  assert.match(out, /^Usage: adk-session-wasm migrate FROM TO/);
});

describe('A password', () => {
  it("does not appear in a driver's error", async () => {
    await oneSession();
    for (const scheme of ['postgresql', 'mysql', 'mariadb']) {
      const url = `${scheme}://ada:s3cret@127.0.0.1:1/db?password=s3cret`;
      for (const args of [
        [url, join(folder, 'to.jsonl')],
        [from, url],
      ]) {
        const { code, out, err } = await command('migrate', ...args);
        assert.equal(code, 1);
        assert.match(err, /ECONNREFUSED.*\(storage_unavailable\)/);
        assert.doesNotMatch(out + err, /s3cret/);
      }
    }
  });

  it('does not appear in the description of a store', () => {
    for (const [url, shown] of [
      ['postgresql://ada:s3cret@host:5432/db?sslkey=s3cret', 'postgresql://ada@host:5432/db'],
      ['postgresql+asyncpg://ada:s3c%40ret@host/db', 'postgresql+asyncpg://ada@host/db'],
      ['mysql://:s3cret@host/db#s3cret', 'mysql://host/db'],
      ['mysql://host:s3cret/db', 'a database'],
      ['sqlite:sessions.db?key=s3cret', 'sqlite:sessions.db'],
      ['folder/file.jsonl', 'folder/file.jsonl'],
    ] as const) {
      assert.equal(describeStore(url), shown);
    }
  });
});

describe('The summary', () => {
  it('names both stores and the counts', async () => {
    await oneSession();
    const to = join(folder, 'counted.jsonl');
    const { code, out, err } = await command('migrate', from, to);
    assert.deepEqual([code, err], [0, '']);
    assert.equal(
      out,
      [
        `${from} -> ${to}`,
        '                sessions    events',
        'copied                 1         0',
        'there already          0         0',
        'verified               1         0',
        'failed                 0',
        '',
      ].join('\n'),
    );
  });

  it('and the progress are omitted with --quiet', async () => {
    await oneSession();
    const outcome = await command('migrate', from, join(folder, 'quiet.jsonl'), '--quiet');
    assert.deepEqual(outcome, { code: 0, out: '', err: '' });
  });
});

describe('Progress', () => {
  const result: Parameters<MigrateOptions['onProgress']>[1] = {
    copied: { sessions: 1, events: 2 },
    skipped: { sessions: 0, events: 0 },
    verified: { sessions: 1, events: 2 },
    failed: 1,
    conflictingKeys: 0,
  } satisfies MigrateResult;

  it('is a bar in a terminal, at most as wide as that, and removed at the end', () => {
    let written = '';
    const terminal = { isTTY: true, columns: 40, write: (text: string) => (written += text) };
    const progress = new Progress(terminal, 4);
    progress.show(1, result);
    assert.equal(written, '\r\u001b[K[######------------------]  25 %  1 ses');
    progress.show(2, result);
    progress.clear();
    assert.ok(written.endsWith('1 ses\r\u001b[K'));
  });

  it('does not exceed 100 % if the source grows', () => {
    let written = '';
    const progress = new Progress({ isTTY: true, write: (text) => (written += text) }, 4);
    progress.show(9, result);
    assert.match(written, /\[#{24}\] 100 % {2}1 sessions, 2 events, 1 failed$/);
  });

  it('is not shown outside of a terminal for a short run', () => {
    let written = '';
    const progress = new Progress({ write: (text) => (written += text) }, 4);
    progress.show(4, result);
    progress.clear();
    assert.equal(written, '');
  });
});
