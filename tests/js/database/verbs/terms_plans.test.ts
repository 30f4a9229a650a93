// The batches in which sessions get their terms: each begins at its place in the primary key, on every engine.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

import { ENGINES } from '../../../../js/database/engines/engines.js';
import { DATABASE_LAYOUT } from '../../../../js/database/tables/layout.js';
import { queryBuilder } from '../../../../js/database/tables/tables.js';
import { termStatements } from '../../../../js/database/verbs/terms.js';
import type { EngineKind } from '../../../../js/database/index.js';
import { type Server, startMariadb, startPostgres } from '../servers.js';

const ROWS = 4000;
const AFTER = { app: 'app', user: 'u', session: `s${ROWS - 100}`, most: 50 };
const COLUMNS = `app_name varchar(100) not null, user_id varchar(100) not null,
  session_id varchar(100) not null, title varchar(100), labels varchar(100),
  primary key (app_name, user_id, session_id)`;
const CREATE = `create table adk_session_wasm_details (${COLUMNS})`;
const FILL = `insert into adk_session_wasm_details select 'app', 'u', NAME, 'Tea', null from`;

let postgres: Server;
let mariadb: Server;
before(async () => {
  [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
});
after(() => Promise.all([postgres.remove(), mariadb.remove()]));

function select(kind: EngineKind) {
  const engine = ENGINES[kind];
  const { described } = termStatements(queryBuilder(engine), engine, DATABASE_LAYOUT);
  const { statement, values } = described.of(AFTER);
  return { text: statement.query.sql, values: [...values] };
}

it('the next sessions without terms are a range of the primary key on SQLite', () => {
  const database = new Sqlite(':memory:');
  database.exec(CREATE);
  const { text, values } = select('sqlite');
  const plan = database.prepare(`explain query plan ${text}`).all(values);
  const steps = plan.map((step) => (step as { detail: string }).detail);
  assert.deepEqual(steps.length, 1);
  assert.match(steps[0] ?? '', /\(\(app_name,user_id,session_id\)>\(\?,\?,\?\)\)/);
  database.close();
});

it('the next sessions without terms are a range of the primary key on PostgreSQL', async () => {
  const { port } = postgres;
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'adk', database: 'adk' });
  await client.connect();
  await client.query(CREATE);
  await client.query(`${FILL.replace('NAME', "'s' || n")} generate_series(1, ${ROWS}) as n`);
  await client.query('analyze');
  const { text, values } = select('postgresql');
  const { rows } = await client.query<Record<string, string>>(`explain ${text}`, values);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  await client.end();
  assert.match(plan, /Index Cond: \(ROW\(/);
});

it('the next sessions without terms are a range of the primary key on MariaDB', async () => {
  const { port } = mariadb;
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'adk', database: 'adk' }); // prettier-ignore
  await connection.query(CREATE);
  await connection.query(`${FILL.replace('NAME', "concat('s', seq)")} seq_1_to_${ROWS}`);
  await connection.query('analyze table adk_session_wasm_details');
  const { text, values } = select('mysql');
  await connection.query('flush status');
  await connection.query(text, values);
  const [rows] = await connection.query("show status where variable_name like 'Handler_read%'");
  await connection.end();
  const read = (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
  assert.ok(read < ROWS / 10, `${read} rows`);
});
