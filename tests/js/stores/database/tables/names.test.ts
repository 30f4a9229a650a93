// Tables in a schema or with a prefix: two tenants of one database share nothing.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Kysely, PostgresDialect } from 'kysely';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

import {
  DatabaseSessionService,
  type TableOptions,
} from '../../../../../js/service/database/index.js';
import { getSessionServiceFromUri } from '../../../../../js/service/uri/index.js';
import { eventOf } from '../cases/concurrency.js';
import { emptied, postgresRows } from '../servers.js';
import { bothServers } from '../both_servers.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();
const servers = bothServers();

const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

async function withSchemas(...schemas: string[]): Promise<string> {
  const url = await emptied('postgresql', servers.postgres);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const schema of ['tenant_a', 'tenant_b']) {
    await client.query(`drop schema if exists ${schema} cascade`);
  }
  for (const schema of schemas) await client.query(`create schema ${schema}`);
  await client.end();
  return url;
}

describe('Two tenants of one database', () => {
  const cases: [
    title: string,
    names: [TableOptions, TableOptions],
    newUrl: () => Promise<string> | string,
  ][] = [
    ['prefixes on SQLite', [{ tablePrefix: 'a_' }, {}], () => `sqlite:${join(folder, 'two.db')}`],
    [
      'schemas on PostgreSQL',
      [{ schema: 'tenant_a' }, { schema: 'tenant_b' }],
      () => withSchemas('tenant_a', 'tenant_b'),
    ],
    ['prefixes on PostgreSQL', [{ tablePrefix: 'a_' }, { tablePrefix: 'b_' }], () => withSchemas()],
    [
      'databases and prefixes on MariaDB',
      [{ schema: 'tenant_b', tablePrefix: 'x_' }, { tablePrefix: 'x_' }],
      async () => {
        const url = await emptied('mariadb', servers.mariadb);
        const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
        await connection.query('create database tenant_b');
        await connection.end();
        return url;
      },
    ],
  ];
  for (const [title, [one, other], newUrl] of cases) {
    it(`share nothing: ${title}`, async () => {
      const url = await newUrl();
      const services = [one, other].map((names) => new DatabaseSessionService(url, names));
      for (const [n, service] of services.entries()) {
        const session = await service.createSession({ ...KEY, state: { 'app:n': n } });
        await service.appendEvent({ session, event: eventOf(`e${n}`, { n }) });
      }
      for (const [n, service] of services.entries()) {
        const session = await service.getSession(KEY);
        assert.deepEqual(
          session?.events.map(({ id }) => id),
          [`e${n}`],
        );
        assert.deepEqual(session.state, { n, 'app:n': n });
        const { totalItems } = await service.listSessions({ appName: 'app', limit: 1 });
        assert.equal(totalItems, 1);
      }
      const [first, second] = services;
      await first?.deleteUser({ appName: 'app', userId: 'ada' });
      assert.equal(await first?.getSession(KEY), undefined);
      assert.notEqual(await second?.getSession(KEY), undefined);
      for (const service of services) await service.close();
    });
  }
});

it('services of one URI share nothing if their schemas or prefixes differ', async () => {
  const uri = await withSchemas('tenant_a', 'tenant_b');
  const names: TableOptions[] = [
    { schema: 'tenant_a' },
    { schema: 'tenant_b' },
    { tablePrefix: 'b_' },
  ];
  const services = names.map((options) => getSessionServiceFromUri(uri, options));
  for (const [n, service] of services.entries()) {
    await service.createSession({ ...KEY, state: { n, 'app:n': n } });
  }
  for (const [n, service] of services.entries()) {
    assert.deepEqual((await service.getSession(KEY))?.state, { n, 'app:n': n });
    await service.close();
  }
  const service = getSessionServiceFromUri(uri, { tablePrefix: 'c_', createTables: false });
  await assert.rejects(service.createSession(KEY), {
    code: 'storage_unavailable',
    message: /createTables is false/,
  });
  await service.close();
});

it('ping() reports a missing schema with the statement that creates it', async () => {
  const url = await withSchemas();
  const service = new DatabaseSessionService(url, { schema: 'Tenant_B' });
  let statement = '';
  await assert.rejects(service.ping(), ({ code, message }: Error & { code: string }) => {
    assert.equal(code, 'storage_unavailable');
    statement = message.replace(/^.*run: /s, '');
    return true;
  });
  await postgresRows(url, statement.replace(/\.$/, ''));
  await service.ping();
  await service.close();
});

it('a Kysely with plugins is refused with the option to use instead', async () => {
  const pool = new pg.Pool({ connectionString: await withSchemas('tenant_a') });
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  assert.throws(
    () =>
      new DatabaseSessionService({ kysely: kysely.withSchema('tenant_a'), engine: 'postgresql' }),
    { code: 'invalid_argument', key: 'kysely', message: /WithSchemaPlugin.*option schema/ },
  );
  const service = new DatabaseSessionService({ kysely, engine: 'postgresql', schema: 'tenant_a' });
  await service.createSession(KEY);
  const { rows } = await pool.query('select id from tenant_a.sessions');
  assert.deepEqual(rows, [{ id: 's1' }]);
  await service.close();
  await kysely.destroy();
});

const wrong: [title: string, options: object, key: string][] = [
  ['a schema on SQLite', { schema: 'a' }, 'schema'],
  ['a prefix with a quote', { tablePrefix: 'a"b' }, 'tablePrefix'],
  ['a prefix that is too long', { tablePrefix: 'a'.repeat(21) }, 'tablePrefix'],
  ['a `createTables` that is a string', { createTables: 'no' }, 'createTables'],
];
for (const [title, options, key] of wrong) {
  it(`a service refuses ${title}`, () => {
    assert.throws(() => new DatabaseSessionService('sqlite::memory:', options), {
      code: 'invalid_argument',
      key,
    });
  });
}
