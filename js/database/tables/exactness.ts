/**
 * Checks that the columns of the ids compare them exactly. Other programs may have made the tables with
 * another collation: `ada` would then read and delete the sessions of `ADA`.
 */
import { sql } from 'kysely';
import { refused } from '../engines/failure.js';
import type { TableColumn } from '../engines/engine.js';
import { runOnce, type Steps } from '../transactions/prepared.js';
import { fullName } from './table_names.js';
import type { NamedTables } from './tables.js';

export const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
export const isText = (name: string) => name === 'state' || name === 'event_data';
const isId = ({ name }: TableColumn) => ['app_name', 'user_id', 'session_id', 'id'].includes(name);

/**
 * Checks that the columns of the ids compare them exactly, and for writing that no column loses data.
 *
 * @param columns the columns of Python's tables
 * @param use `readOfAdk` is for the tables of `@google/adk`, whose columns have other types
 * @throws SessionError `storage_unavailable`, with the statements that correct the tables if there are any
 */
export function checkColumns(
  tables: NamedTables,
  columns: readonly TableColumn[],
  use: 'read' | 'readOfAdk' | 'write',
): Steps<void> {
  switch (tables.engine.kind) {
    case 'sqlite':
      return requireNoCollation(tables, columns);
    case 'postgresql':
      return requireDeterministic(tables, columns);
    case 'mysql':
      switch (use) {
        case 'read':
          return requireExactIds(tables, columns);
        case 'readOfAdk':
          return requireDistinctIds(tables, columns);
        case 'write':
          return requireExactColumns(tables, columns);
      }
  }
}

/** Whether SQLite keeps texts in a column of this type as they are. In any other, `007` could become `7`. */
const keepsText = (type: string) => /char|clob|text/i.test(type) && !/int/i.test(type);

/** Reads the collations from the statements that created the tables: SQLite keeps them nowhere else. */
function* requireNoCollation(
  { database, engine, names }: NamedTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const ids = columns.filter(isId);
  const other = ids.find(({ type }) => !keepsText(type));
  if (other !== undefined) {
    throw refused(
      engine,
      `has the column ${other.name} of ${names.prefix}${other.table} with the type "${other.type}", which changes ids such as 007; copy the table into one with the type TEXT`,
    );
  }
  const tables = [...new Set(ids.map(({ table }) => names.prefix + table))];
  if (tables.length === 0) return;
  const rows = yield* runOnce(
    database,
    sql<{ name: string; text: string }>`
      select name, sql as text from sqlite_master
      where type = 'table' and name in (${sql.join(tables)})`,
  );
  for (const { name, text } of rows) {
    const statement = text.replaceAll(/--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'/g, ' ');
    const collation = /\bcollate\s+["`[]?(?!binary\b)(\w+)/i.exec(statement)?.[1];
    if (collation === undefined) continue;
    throw refused(
      engine,
      `compares columns of ${name} by the collation ${collation}, so that ids which differ find each other's rows; copy the table into one without COLLATE`,
    );
  }
}

/** PostgreSQL's types that compare all characters. `citext` ignores case, and `character` blanks at the end. */
const EXACT_TYPES = ['character varying', 'text'];

/** Checks the types and the collations that columns name. The default collation of a database is always deterministic. */
function* requireDeterministic(
  { database, engine, names }: NamedTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const ids = columns.filter(isId);
  const alter = ({ table, name }: TableColumn, type: string) =>
    `ALTER TABLE ${fullName(names, table, '"')} ALTER COLUMN "${name}" TYPE ${type};`;
  const inexact = ids.filter(({ type }) => !EXACT_TYPES.includes(type));
  if (inexact.length > 0) {
    const statements = inexact.map((column) => alter(column, 'text'));
    throw refused(
      engine,
      `has ids of a type that does not compare all characters, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
    );
  }
  const named = ids.flatMap(({ collation }) => collation ?? []);
  if (named.length === 0) return;
  // Read through JSON, since older servers lack this column, and with it such collations.
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`
      select collname as name from pg_collation
      where collname in (${sql.join([...new Set(named)])})
        and to_jsonb(pg_collation) ->> 'collisdeterministic' = 'false'`,
  );
  const wrong = ids.filter(({ collation }) => rows.some(({ name }) => name === collation));
  if (wrong.length === 0) return;
  const statements = wrong.map((column) => alter(column, `${column.type} COLLATE "C"`));
  throw refused(
    engine,
    `compares ids by a collation that is not deterministic, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
  );
}

/** Requires the collation of {@link readCollation} for ids on MySQL and MariaDB: no other compares exactly. */
function* requireExactIds(tables: NamedTables, columns: readonly TableColumn[]): Steps<void> {
  const exact = yield* readCollation(tables);
  if (columns.filter(isId).every(({ collation }) => collation === exact)) return;
  // Fails, with the statements that correct all columns.
  yield* requireExactColumns(tables, columns);
}

/**
 * Requires columns that lose nothing, on MySQL and MariaDB. In tables that Python made there, times may be
 * kept to the second and long texts cut off. `Alice` may also find `alice`'s session.
 */
function* requireExactColumns(tables: NamedTables, columns: readonly TableColumn[]): Steps<void> {
  const { engine, names } = tables;
  const exact = yield* readCollation(tables);
  const wrong = columns.filter(({ name, type, collation }) => {
    if (isTime(name)) return type !== 'datetime(6)';
    if (isText(name)) return type !== 'longtext';
    return collation !== null && collation !== exact;
  });
  if (wrong.length === 0) return;
  const statements = wrong.map(({ table, name, type }) => {
    const column = `ALTER TABLE ${fullName(names, table, '`')} MODIFY \`${name}\``;
    if (isTime(name)) return `${column} DATETIME(6) NOT NULL`;
    const text = isText(name) ? 'LONGTEXT' : type.toUpperCase();
    const isNullable = name === 'event_data';
    return `${column} ${text} CHARACTER SET utf8mb4 COLLATE ${exact}${isNullable ? '' : ' NOT NULL'}`;
  });
  // A column of a foreign key cannot be changed.
  const keys = yield* foreignKeys(tables);
  const [events, sessions] = [fullName(names, 'events', '`'), fullName(names, 'sessions', '`')];
  const all = [
    ...keys.map((name) => `ALTER TABLE ${events} DROP FOREIGN KEY \`${name}\``),
    ...statements,
    `ALTER TABLE ${events} ADD FOREIGN KEY (app_name, user_id, session_id) REFERENCES ${sessions} (app_name, user_id, id) ON DELETE CASCADE`,
  ];
  throw refused(engine, `has columns that would lose data; run: ${all.join('; ')};`);
}

/**
 * Requires that no two ids are equal under the columns' collation. The tables of `@google/adk` itself on
 * MySQL and MariaDB compare ids without case. They can be read only if no two stored ids are equal that way.
 */
function* requireDistinctIds(
  { database, engine, names }: NamedTables,
  columns: readonly TableColumn[],
): Steps<void> {
  for (const name of ['app_name', 'user_id']) {
    const all = columns
      .filter((column) => column.name === name && column.table !== 'events')
      .map(
        ({ table }) => sql`select ${sql.ref(name)} as id from ${sql.table(names.prefix + table)}`,
      );
    const rows = yield* runOnce(
      database,
      sql<{ exact: unknown; alike: unknown }>`
        select count(distinct binary id) as exact, count(distinct id) as alike
        from (${sql.join(all, sql` union all `)}) as ids`,
    );
    if (rows.every(({ exact, alike }) => Number(exact) === Number(alike))) continue;
    throw refused(
      engine,
      `has values of ${name} that differ only in ways that its columns do not compare, such as case, so that they find each other's rows; rename them, or give the columns a binary collation`,
    );
  }
}

function* foreignKeys({ database, names: { schema, prefix } }: NamedTables): Steps<string[]> {
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`
      select constraint_name as name from information_schema.table_constraints
      where table_schema = ${schema ?? sql`database()`}
        and table_name = ${`${prefix}events`}
        and constraint_type = 'FOREIGN KEY'`,
  );
  return rows.map(({ name }) => name);
}

/** The SQL mode of MySQL and MariaDB in which a backslash is no escape. */
export const NO_ESCAPES = 'NO_BACKSLASH_ESCAPES';

/**
 * Requires that texts arrive as they are written.
 *
 * - A backslash must escape a quote. `mysql2` writes values into the SQL of statements that are not prepared, and
 *   escapes their quotes so. Without that an id could hold SQL.
 * - The connection's character set must hold all characters. It replaces each other one by a question mark.
 */
export function* requireExactTexts({ database, engine }: NamedTables): Steps<void> {
  if (!engine.hasTextModes) return;
  const [row] = yield* runOnce(
    database,
    sql<{ mode: string; charset: string }>`
      select @@sql_mode as mode, @@character_set_client as charset`,
  );
  if (row !== undefined && row.charset !== 'utf8mb4') {
    throw refused(
      engine,
      `is connected with the character set ${row.charset}, which lacks characters; leave out charset, or set it to utf8mb4`,
    );
  }
  if (row?.mode.includes(NO_ESCAPES) !== true) return;
  const how = 'in which an id could hold SQL; set another sql_mode on its connections';
  throw refused(engine, `has the SQL mode ${NO_ESCAPES}, ${how}`);
}

/** Returns the collation that compares ids exactly: MySQL and MariaDB have different ones. Empty on other engines. */
export function* readCollation({ database, engine }: NamedTables): Steps<string> {
  const { exactCollations } = engine;
  if (exactCollations === undefined) return '';
  const [row] = yield* runOnce(database, sql<{ version: string }>`select version() as version`);
  return exactCollations[/mariadb/i.test(row?.version ?? '') ? 'mariadb' : 'mysql'];
}
