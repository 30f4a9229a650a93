// Over real servers, there and back: what they do not keep, spelling of numbers and order of keys, is no loss.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { emptied } from '../stores/database/servers.js';
import { command, contentsOf, fill, row } from './stores.js';
import { newFolder } from '../../new_folder.js';
import { bothServers } from '../stores/database/both_servers.js';

const servers = bothServers();

const folder = newFolder();
let count = 0;
const newFile = () => `sqlite:${join(folder, `${++count}.db`)}`;

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement);
  await client.end();
  return rows;
}

it('a copy from SQLite to PostgreSQL to MariaDB to SQLite is the same', async () => {
  const urls = [
    newFile(),
    await emptied('postgresql', servers.postgres),
    await emptied('mariadb', servers.mariadb),
    newFile(),
  ];
  await fill(urls[0] ?? '');
  for (const [from, to] of urls.slice(1).map((to, n) => [urls[n] ?? '', to] as const)) {
    const outcome = await command('copy', from, to);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(row(outcome, 'TO'), [5, 34]);
    assert.deepEqual(row(await command('copy', from, to), 'new in TO'), [0, 0]);
    assert.deepEqual(await contentsOf(to), await contentsOf(urls[1] ?? ''));
  }
});

it('copy reads and writes tables in a schema and with a prefix', async () => {
  const url = await emptied('postgresql', servers.postgres);
  await query(url, 'drop schema if exists tenant_a cascade; create schema tenant_a');
  const [from, to] = [newFile(), newFile()];
  await fill(from);
  const [toNames, fromNames] = ['to', 'from'].map((side) => [
    ...[`--${side}-schema`, 'tenant_a', `--${side}-table-prefix`, 'Agents_'],
  ]) as [string[], string[]];
  for (const args of [
    [from, url, ...toNames],
    [url, url, ...fromNames, '--to-table-prefix', 'other_'],
    [url, to, '--from-table-prefix', 'other_'],
  ]) {
    const outcome = await command('copy', ...args);
    assert.deepEqual([outcome.code, outcome.err], [0, '']);
    assert.deepEqual(row(outcome, 'TO'), [5, 34]);
  }
  assert.equal((await command('copy', from, to)).code, 0);
  const without = await command('copy', url, to);
  assert.equal(without.code, 1);
  assert.match(without.err, /has no sessions of google-adk/);
  const missing = await command('copy', from, url, '--to-schema', 'tenant_b');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /create schema "tenant_b"/);
});

it('copy finds numbers the same that a server prints differently', async () => {
  const [from, to] = [newFile(), await emptied('postgresql', servers.postgres)];
  const service = new DatabaseSessionService(from);
  const state = { z: 1e21, a: [1e23, 1.5e300, 1e-7, 1.2345678901234567e19, 0.1], m: -1e22 };
  await service.createSession({ appName: 'app', userId: 'ada', sessionId: 's1', state });
  await service.close();
  const outcome = await command('copy', from, to);
  assert.deepEqual([outcome.code, outcome.err, row(outcome, 'TO')], [0, '', [1, 0]]);
});

it('copy reports what a server cannot store, and copies the rest', async () => {
  const [from, to] = [newFile(), await emptied('postgresql', servers.postgres)];
  const service = new DatabaseSessionService(from);
  const user = { appName: 'app', userId: 'ada' };
  await service.createSession({ ...user, sessionId: 'nul', state: { cart: ['a\0b'] } });
  await service.createSession({ ...user, sessionId: 'x'.repeat(200) });
  await service.createSession({ ...user, sessionId: 'fits' });
  await service.close();
  const outcome = await command('copy', from, to);
  assert.equal(outcome.code, 1);
  assert.match(outcome.err, /session "nul".*cart\[0\].*\(unserializable\)/);
  assert.match(outcome.err, /session "xxx.*128 characters.*\(invalid_argument\)/);
  assert.deepEqual(row(outcome, 'TO'), [1, 0]);
});

it('copy reads a server that only Python has written, and adds no table', async () => {
  const from = await emptied('postgresql', servers.postgres);
  await fill(from);
  await query(from, "delete from adk_internal_metadata where key <> 'schema_version'");
  await query(
    from,
    'drop table adk_session_wasm_sessions, adk_session_wasm_details, adk_session_wasm_mutations,' +
      ' adk_session_wasm_search, adk_session_wasm_files, adk_session_wasm_file_chunks',
  );
  const tables = "select count(*)::int as tables from pg_tables where schemaname = 'public'";
  const outcome = await command('copy', from, newFile());
  assert.deepEqual([outcome.code, row(outcome, 'TO')], [0, [5, 34]]);
  assert.deepEqual(await query(from, tables), [{ tables: 5 }]);
});

it('copy reads MariaDB tables made by Python, which the service refuses to write', async () => {
  const from = await emptied('mariadb', servers.mariadb);
  await fill(from);
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri: from.replace('mariadb', 'mysql') });
  await connection.query('alter table app_states modify state text not null');
  const to = newFile();
  const outcome = await command('copy', from, to);
  assert.deepEqual([outcome.code, row(outcome, 'TO')], [0, [5, 34]]);
  assert.match((await command('copy', to, from)).err, /ALTER TABLE.*\(storage_unavailable\)/);
  await connection.end();
});
