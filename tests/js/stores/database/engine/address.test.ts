// Database URLs in this package's spelling and in Python's, and the URLs that the drivers get.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import mysql from 'mysql2/promise';
import pg from 'pg';

import { parseAddress } from '../../../../../js/stores/database/engine/address.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { emptied } from '../servers.js';
import { bothServers } from '../both_servers.js';
import { newFolder } from '../../../../new_folder.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

function refusal(url: string): string {
  try {
    parseAddress(url);
  } catch (error) {
    assert.ok(isSessionError(error, 'invalid_argument'));
    return error.message;
  }
  return assert.fail('the URL was accepted');
}

describe('The URL of a SQLite file', () => {
  const paths = {
    'sqlite:a.db': 'a.db',
    'sqlite:///a.db': 'a.db',
    'sqlite:////abs/a.db': '/abs/a.db',
    'sqlite:/abs/a.db': '/abs/a.db',
    'sqlite+aiosqlite:///a.db?timeout=5&check_same_thread=false': 'a.db',
    'sqlite:a%20b.db': 'a%20b.db',
    'sqlite://': ':memory:',
  };
  for (const [url, path] of Object.entries(paths)) {
    it(`${url} names ${path}`, () => {
      assert.deepEqual(parseAddress(url), { kind: 'sqlite', location: path });
    });
  }

  for (const url of ['sqlite:what?.db', 'sqlite:///a.db?mode=ro', 'sqlite:a.db?', 'sqlite:?x']) {
    it(`${url} is refused for its query`, () => {
      assert.match(refusal(url), /nothing behind a \?/);
    });
  }

  for (const url of ['sqlite:file:a.db', 'sqlite:///file::memory:', 'sqlite:FILE:///a.db']) {
    it(`${url} is refused, since the drivers differ in what they open`, () => {
      assert.match(refusal(url), /must not begin with file:/);
    });
  }

  it('is refused before a file is created', () => {
    const folder = newFolder();
    assert.throws(() => new DatabaseSessionService(`sqlite:${join(folder, 'what?.db')}`));
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('The URL of a server', () => {
  const urls = {
    'postgresql+asyncpg://ada@h/db?ssl=require':
      'postgresql://ada@h/db?uselibpqcompat=true&sslmode=require',
    'postgresql+asyncpg://ada@h/db?ssl=disable': 'postgresql://ada@h/db?ssl=0',
    'postgresql://ada@h/db?ssl=TRUE': 'postgresql://ada@h/db?ssl=true',
    'postgresql://ada@h/db?sslmode=verify-full&application_name=x':
      'postgresql://ada@h/db?sslmode=verify-full&application_name=x',
    'postgresql://ada:x@/db?host=/cloudsql/p:r:i':
      'postgresql://ada:x@localhost/db?host=/cloudsql/p:r:i',
    'postgresql:///db?host=/run': 'postgresql://localhost/db?host=/run',
    'postgresql+pg8000://ada@/db?unix_sock=/cloudsql/p:r:i/.s.PGSQL.5432':
      'postgresql://ada@localhost/db?host=/cloudsql/p:r:i',
    'mysql+pymysql://ada@/db?unix_socket=/cloudsql/p:r:i':
      'mysql://ada@localhost/db?socketPath=/cloudsql/p:r:i',
  };
  for (const [url, expected] of Object.entries(urls)) {
    it(`${url} is passed to its driver as ${expected}`, () => {
      assert.equal(parseAddress(url).location, expected);
    });
  }

  it('with an unknown TLS mode is refused, and the error lists the known ones', () => {
    assert.match(refusal('postgresql://ada@h/db?ssl=yes'), /one of .*verify-full/);
  });

  for (const url of [
    'postgresql://h',
    'postgresql:db',
    'mysql://ada:s3cret#@h/db',
    'mysql://ada:1/s3cret@h/db',
    'mysql:///db',
    'postgresql://ada:s3cret%zz@h/db',
    'mysql://ada:s3cret%zz@h/db',
    'mysql://h/%E0%A4%A',
  ]) {
    it(`${url.replace('s3cret', '***')} is refused, and the error shows the expected form unmasked`, () => {
      const message = refusal(url);
      assert.match(message, /HOST:PORT\/DATABASE with USER:PASSWORD@ before HOST/);
      assert.doesNotMatch(message, /s3cret/);
    });
  }
});

describe('A server that listens on a socket', () => {
  const servers = bothServers();

  async function storesSession(url: string): Promise<void> {
    const service = new DatabaseSessionService(url);
    await service.createSession(KEY);
    assert.ok(await service.getSession(KEY));
    await service.close();
  }

  it('is reached through the folder that `host` names, as for Cloud SQL', async () => {
    const url = new URL(await emptied('postgresql', servers.postgres));
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      "select current_setting('unix_socket_directories') as folder",
    );
    await client.end();
    const folder = rows[0]?.folder ?? '';
    assert.ok(existsSync(folder));
    const { username, port, pathname } = url;
    await storesSession(`postgresql+asyncpg://${username}@${pathname}?host=${folder}&port=${port}`);
    await emptied('postgresql', servers.postgres);
    const socket = encodeURIComponent(join(folder, `.s.PGSQL.${port}`));
    await storesSession(
      `postgresql+pg8000://${username}@${pathname}?unix_sock=${socket}&port=${port}`,
    );
  });

  it('is reached through the file that `unix_socket` names', async () => {
    const url = new URL(await emptied('mariadb', servers.mariadb));
    const client = await mysql.createConnection(url.href.replace('mariadb:', 'mysql:'));
    const [rows] = await client.query<mysql.RowDataPacket[]>('select @@socket as path');
    await client.end();
    const path = (rows[0] as { path: string }).path;
    await storesSession(`mysql+pymysql://${url.username}@${url.pathname}?unix_socket=${path}`);
  });

  it('without TLS refuses `ssl=require` with an error that the program can catch', async () => {
    const url = await emptied('postgresql', servers.postgres);
    for (const mode of ['require', 'true', 'verify-full', 'verify-ca', 'no-verify']) {
      const service = new DatabaseSessionService(`${url}?ssl=${mode}`);
      await assert.rejects(service.getSession(KEY), (error) => {
        assert.ok(isSessionError(error), String(error));
        return /SSL/i.test(error.message);
      });
      await service.close();
    }
    await storesSession(`${url}?ssl=disable`);
  });
});
