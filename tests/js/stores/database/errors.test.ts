// Failures around a database: each has its code, leaves no partial write, and the service works afterwards.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';

import { POSTGRESQL } from '../../../../js/stores/database/engines/postgresql/postgresql.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { databaseError } from '../../../../js/stores/database/engine/failure.js';
import type { Query } from '../../../../js/stores/database/engine/prepared.js';
import { serverConnection } from '../../../../js/stores/database/transactions/server_runner.js';
import { COMMIT, ROLLBACK } from '../../../../js/stores/database/transactions/transaction.js';
import { Waits } from '../../../../js/stores/database/engine/waits.js';
import { isSessionError, type SessionErrorCode } from '../../../../js/index.js';
import { LOADER } from '../../loader.js';
import { eventOf } from './cases/concurrency.js';
import { newFolder } from '../../../new_folder.js';

const folder = newFolder();

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

async function rejects(call: Promise<unknown>, code: SessionErrorCode, message: RegExp) {
  await assert.rejects(call, (error) => {
    assert.ok(isSessionError(error, code), inspect(error));
    assert.match(error.message, message);
    assert.doesNotMatch(inspect(error), /s3cret/);
    return true;
  });
}

/** A file with the given tables. */
function fileWith(name: string, ...statements: string[]): string {
  const path = join(folder, `${name}.db`);
  const database = new Sqlite(path);
  for (const statement of statements) database.exec(statement);
  database.close();
  return `sqlite:${path}`;
}

describe('A URL', () => {
  const bad: [title: string, url: string][] = [
    ['empty', ''],
    ['without scheme', 'sessions.db'],
    ['of another database', 'mongodb://ada:s3cret@host/db'],
    ['of a scheme that objects inherit', 'constructor:x'],
    ['with a raw character in its password', 'postgresql://ada:s3cret#1@host/db'],
    ['with a port that is not a number', 'postgresql://ada:s3cret@host:port/db'],
    ['without database', 'mysql://ada:s3cret@host'],
    ['of a SQLite file on a host', 'sqlite://host/file.db'],
  ];
  for (const [title, url] of bad) {
    it(`that is ${title} is refused by the constructor, and the error hides the password`, () => {
      assert.throws(
        () => new DatabaseSessionService(url),
        (error) => {
          assert.ok(isSessionError(error, 'invalid_argument'), inspect(error));
          assert.equal(error.key, 'url');
          assert.doesNotMatch(inspect(error), /s3cret/);
          return true;
        },
      );
    });
  }

  for (const prefix of ['sqlite:', 'sqlite:///', 'sqlite+aiosqlite:///']) {
    it(`${prefix}PATH opens that file`, async () => {
      const path = join(folder, `${prefix.replaceAll(/\W/g, '_')}.db`);
      const service = new DatabaseSessionService(`${prefix}${path}`);
      await service.createSession(KEY);
      await service.close();
      const database = new Sqlite(path, { fileMustExist: true });
      assert.equal(database.prepare('select count(*) from sessions').pluck().get(), 1);
      database.close();
    });
  }
});

describe('A database that cannot be opened', () => {
  it('is reported without the password', async () => {
    const nobody = '127.0.0.1:1';
    for (const scheme of ['postgresql', 'mysql']) {
      const service = new DatabaseSessionService(`${scheme}://ada:s3cret@${nobody}/db`);
      await rejects(service.createSession(KEY), 'storage_unavailable', /ECONNREFUSED/);
      await rejects(service.getSession(KEY), 'storage_unavailable', /ECONNREFUSED/);
      await service.close();
    }
  });

  it('works at the first call after it has become available', async () => {
    const home = join(folder, 'later');
    const service = new DatabaseSessionService(`sqlite:${join(home, 'file.db')}`);
    await rejects(service.createSession(KEY), 'storage_unavailable', /director/);
    mkdirSync(home);
    await service.createSession(KEY);
    assert.notEqual(await service.getSession(KEY), undefined);
    await service.close();
  });

  it('is reported if its file is not a SQLite file', async () => {
    const path = join(folder, 'text.db');
    writeFileSync(
      path,
      'this is text, and more of it than a header of SQLite has bytes'.repeat(10),
    );
    const service = new DatabaseSessionService(`sqlite:${path}`);
    await rejects(service.ping(), 'storage_unavailable', /not a database/);
    await service.close();
  });
});

describe('A SQLite file that is open', () => {
  it('refuses a ping once it is deleted, or replaced by another one', async () => {
    const path = join(folder, 'deleted.db');
    await using service = new DatabaseSessionService(`sqlite:${path}`);
    await service.createSession(KEY);
    await service.ping();
    rmSync(path);
    await rejects(service.ping(), 'storage_unavailable', /deleted or replaced/);
    new Sqlite(path).close();
    await rejects(service.ping(), 'storage_unavailable', /deleted or replaced/);
  });
});

describe('Tables of another layout', () => {
  const metadata = 'create table adk_internal_metadata ("key" text primary key, value text)';
  const cases: [title: string, code: SessionErrorCode, message: RegExp, statements: string[]][] = [
    [
      'pickled events',
      'storage_unavailable',
      /version 0.*adk migrate session/,
      ['create table events (id text, actions blob, timestamp datetime)'],
    ],
    [
      'version 0',
      'storage_unavailable',
      /version 0.*adk migrate session/,
      [metadata, "insert into adk_internal_metadata values ('schema_version', '0')"],
    ],
    [
      'a later version',
      'storage_newer',
      /version 2/,
      [metadata, "insert into adk_internal_metadata values ('schema_version', '2')"],
    ],
    [
      'a version that is not a number',
      'storage_newer',
      /version v2/,
      [metadata, "insert into adk_internal_metadata values ('schema_version', 'v2')"],
    ],
    ['a missing version', 'storage_unavailable', /schema_version/, [metadata]],
    [
      'tables of another program',
      'storage_unavailable',
      /google-adk did not make/,
      ['create table events (id text)'],
    ],
  ];
  for (const [title, code, message, statements] of cases) {
    it(`are refused with advice: ${title}`, async () => {
      const url = fileWith(title.replaceAll(/\W/g, '_'), ...statements);
      const service = new DatabaseSessionService(url);
      await rejects(service.createSession(KEY), code, message);
      await service.close();
      const database = new Sqlite(url.slice('sqlite:'.length));
      const tables = database.prepare("select count(*) from sqlite_master where type = 'table'");
      assert.equal(tables.pluck().get(), 1);
      database.close();
    });
  }
});

describe('A full disk', () => {
  it('fails an append without changes to the handle, and a retry succeeds when there is space', async () => {
    const database = new Sqlite(join(folder, 'full.db'));
    const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
    const service = new DatabaseSessionService({ kysely, engine: 'sqlite' });
    const session = await service.createSession({ ...KEY, state: { n: 0 } });
    const other = { ...KEY, sessionId: 'other' };
    await service.createSession(other);
    const pages = database.pragma('page_count', { simple: true }) as number;
    database.pragma(`max_page_count = ${pages + 4}`);
    const event = eventOf('large', { n: 1, 'app:n': 1, text: 'x'.repeat(100_000) });
    await rejects(service.appendEvent({ session, event }), 'quota_exceeded', /full/);
    assert.deepEqual(session.state, { n: 0 });
    assert.deepEqual(session.events, []);
    assert.deepEqual(await service.getAppState({ appName: 'app' }), {});
    await service.deleteSession(other);
    assert.equal(await service.getSession(other), undefined);
    database.pragma('max_page_count = 100000');
    await service.appendEvent({ session, event });
    const stored = await service.getSession(KEY);
    assert.equal(stored?.state.n, 1);
    assert.equal(stored.events.length, 1);
    await service.close();
    await kysely.destroy();
  });
});

describe('A file that may not grow', () => {
  /** The output of a program whose files may have at most 800 KB. */
  function limited(name: string): unknown {
    // Without the trap, the signal would end the program instead of an error.
    const limit = 'trap "" XFSZ; ulimit -f 800; exec "$@"';
    const file = fileURLToPath(import.meta.resolve(`./programs/${name}.js`));
    const command = [process.execPath, ...LOADER, file, join(folder, `${name}.db`)];
    const { stdout, stderr } = spawnSync('bash', ['-c', limit, 'bash', ...command], {
      encoding: 'utf8',
      // Otherwise tsx caches its output in files.
      env: { ...process.env, TSX_DISABLE_CACHE: '1' },
    });
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout);
  }

  it('fails an append without changes to the handle, stores a smaller one, and empties its log', () => {
    assert.deepEqual(limited('full_disk'), {
      code: 'quota_exceeded',
      handle: { ids: [], state: { n: 0 } },
      stored: { ids: ['small'], state: { n: 2 } },
      full: ['0 9', '1 9', '2 9', '3 9'],
    });
  });

  it('fails deletions while a reader keeps its log full, and deletes when the reader has ended', () => {
    const { refusal, deletion, ...rest } = limited('full_log') as Record<string, unknown>;
    for (const message of [refusal, deletion]) {
      assert.match(
        String(message),
        /^quota_exceeded: .*make room on the disk, delete sessions, or end programs/,
      );
      assert.doesNotMatch(String(message), /server/);
    }
    assert.deepEqual(rest, { isWhole: true, then: ['done', 'done'], left: 0 });
  });
});

it('A failure has one full stop, also if its driver ends with one', async () => {
  const failure = Object.assign(new Error('The driver says no.'), { code: 'P0001' });
  const message = /failed: The driver says no\. Nothing was written\.$/;
  await rejects(Promise.reject(databaseError(POSTGRESQL, failure)), 'storage_failed', message);
});

it('A parameter that the driver refuses before it connects has the code of a wrong address', async () => {
  await using service = new DatabaseSessionService('mysql://ada:s3cret@127.0.0.1:1/db?ssl=none');
  await rejects(service.ping(), 'storage_unavailable', /Check the address/);
});

describe('A statement that the server stops', () => {
  /** Runs work whose first attempt is stopped. */
  async function attemptsOf(mode: 'read' | 'write', timeoutMs?: number): Promise<number> {
    let attempts = 0;
    const query = (): Promise<[]> => Promise.resolve([]);
    const connection = { query, received: () => 0, release: () => 0, destroy: () => 0 };
    const pool = { connect: () => Promise.resolve(connection), end: () => Promise.resolve() };
    const { run } = serverConnection(pool, POSTGRESQL, new Waits(timeoutMs));
    function* work() {
      attempts += 1;
      const code = '57014';
      if (attempts === 1) throw Object.assign(new Error('canceling statement'), { code });
      yield { queries: [], isLast: true };
    }
    await Promise.resolve(run(mode, work, {})).catch((error: unknown) => {
      assert.ok(isSessionError(error, 'storage_blocked'), inspect(error));
    });
    return attempts;
  }

  it('is sent again by a write, which waits for row locks, while there is time', async () => {
    assert.equal(await attemptsOf('write'), 2);
    assert.equal(await attemptsOf('write', 0), 1);
  });

  it('is not sent again by a read, which waits for none', async () => {
    assert.equal(await attemptsOf('read'), 1);
  });
});

describe('A commit that fails', () => {
  const cases: [title: string, code: string, isConnected: boolean, expected: SessionErrorCode][] = [
    ['the server crashed, since its disk is full', '53100', false, 'connection_lost'],
    ['the server crashed, since its disk is broken', '58030', false, 'connection_lost'],
    ['the disk is full', '53100', true, 'quota_exceeded'],
    ['a trigger refuses it', 'P0001', true, 'storage_failed'],
  ];
  for (const [title, code, isConnected, expected] of cases) {
    it(`may be stored only if the connection is gone: ${title}`, async () => {
      // Some servers translate the severity.
      const refusal = Object.assign(new Error('no'), { code, severity: 'PANIK' });
      const query = (sent: Query): Promise<[]> => {
        if (sent === COMMIT) return Promise.reject(refusal);
        const isRefused = sent === ROLLBACK && !isConnected;
        return isRefused ? Promise.reject(new Error('Connection terminated')) : Promise.resolve([]);
      };
      const connection = { query, received: () => 0, release: () => 0, destroy: () => 0 };
      const pool = { connect: () => Promise.resolve(connection), end: () => Promise.resolve() };
      const { run } = serverConnection(pool, POSTGRESQL, new Waits());
      function* work() {
        yield { queries: [], isLast: true };
      }
      const isInDoubt = expected === 'connection_lost';
      const message = isInDoubt ? /may be stored/ : /Nothing was written/;
      await rejects(Promise.resolve(run('write', work, {})), expected, message);
    });
  }
});

it('A database in a page is unavailable, and says that databases work in Node', async () => {
  const service = new DatabaseSessionService('sqlite::memory:');
  const own = Object.getOwnPropertyDescriptor(globalThis, 'process')!;
  Object.defineProperty(globalThis, 'process', { value: undefined, configurable: true });
  try {
    await rejects(service.ping(), 'storage_unavailable', /work in Node/);
  } finally {
    Object.defineProperty(globalThis, 'process', own);
  }
});

describe('A driver that is not installed', () => {
  // The package with its dependencies, as npm installs it alone.
  const root = fileURLToPath(new URL('../../../..', import.meta.url));
  const modules = join(folder, 'program', 'node_modules');
  const home = join(modules, 'adk-session-wasm');
  mkdirSync(home, { recursive: true });
  for (const part of ['package.json', 'pkg', 'js/dist']) {
    cpSync(join(root, part), join(home, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules', 'kysely'), join(modules, 'kysely'));

  const drivers = [
    ['postgresql://ada:s3cret@127.0.0.1/db', 'pg'],
    ['mysql://ada:s3cret@127.0.0.1/db', 'mysql2'],
    ['sqlite:file.db', 'better-sqlite3'],
  ];
  for (const [url = '', driver = ''] of drivers) {
    // The service uses Node's own SQLite where it exists.
    if (driver === 'better-sqlite3' && isBuiltin('node:sqlite')) continue;
    it(`is named in the error with the command that installs it: ${driver}`, () => {
      assert.match(
        outputOf(opens(url)),
        new RegExp(`^storage_unavailable .*npm install ${driver}`),
      );
    });
  }

  it("is named too if Yarn's Plug'n'Play has not found it", () => {
    const hooks = `
      export async function resolve(name, context, next) {
        if (name !== 'pg') return next(name, context);
        const message = "adk-session-wasm tried to access pg (a peer dependency) but it isn't provided by its ancestors;"
          + "\\n\\nRequired package: pg\\nRequired by: adk-session-wasm";
        throw Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });
      }`;
    const program = `
      import { register } from 'node:module';
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});
      ${opens('postgresql://ada:s3cret@127.0.0.1/db')}`;
    assert.match(outputOf(program), /^storage_unavailable .*npm install pg/);
  });

  it('without its binary gives way to node:sqlite, or the error says how to build it', () => {
    const installed = join(root, 'node_modules');
    const driver = join(modules, 'better-sqlite3');
    for (const part of ['package.json', 'lib']) {
      cpSync(join(installed, 'better-sqlite3', part), join(driver, part), { recursive: true });
    }
    for (const name of ['bindings', 'file-uri-to-path']) {
      symlinkSync(join(installed, name), join(modules, name));
    }
    const expected = isBuiltin('node:sqlite')
      ? /^open\n/
      : /^storage_unavailable .*npm rebuild better-sqlite3.*pnpm approve-builds/;
    assert.match(outputOf(opens('sqlite:without.db')), expected);
  });

  it('with its binary gives way to node:sqlite where addons are forbidden, and in Deno', () => {
    const installed = join(root, 'node_modules');
    const driver = join(modules, 'better-sqlite3');
    cpSync(join(installed, 'better-sqlite3', 'build'), join(driver, 'build'), { recursive: true });
    const hasOwn = isBuiltin('node:sqlite');
    const program = opens('sqlite:with.db');
    assert.equal(outputOf(program), 'open\n');
    const forbidden = hasOwn ? /^open\n/ : /^storage_unavailable .*--allow-addons/;
    assert.match(outputOf(program, '--no-addons'), forbidden);
    const inDeno = hasOwn ? /^open\n/ : /^storage_unavailable /;
    assert.match(outputOf(`globalThis.Deno = {};${program}`), inDeno);
  });

  function opens(url: string): string {
    return `
      const { DatabaseSessionService } = await import('adk-session-wasm/database');
      const service = new DatabaseSessionService('${url}');
      await service.ping().then(() => console.log('open'), ({ code, message }) => console.log(code, message));
      await service.close();`;
  }

  function outputOf(program: string, ...options: string[]): string {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...options, '--input-type=module', '--eval', program],
      { cwd: join(folder, 'program'), encoding: 'utf8' },
    );
    return stdout || stderr;
  }
});
