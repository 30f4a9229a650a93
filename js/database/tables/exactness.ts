/**
 * Checks that the columns of the ids compare them exactly. Other programs may have made the tables with
 * another collation: `ada` would then read and delete the sessions of `ADA`.
 */
import { sql } from 'kysely';
import type { SessionError } from '../../errors/errors.js';
import type { EngineKind } from '../engines/engine.js';
import { readMysqlCollation } from '../engines/mysql.js';
import { fullName, type TableNames } from './table_names.js';
import type { Database } from './tables.js';

/** A column of an existing table. */
export interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The collation that the column names; always `null` on SQLite, which does not report it. */
  readonly collation: string | null;
}

/** The columns to check, and the maker of an error about them. */
interface ColumnsToCheck {
  readonly names: TableNames;
  /** The columns of Python's tables. */
  readonly columns: readonly Column[];
  /** Makes the error from a statement about the database. */
  readonly refuse: (what: string) => SessionError;
}

export const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
export const isText = (name: string) => name === 'state' || name === 'event_data';
const isId = ({ name }: Column) => ['app_name', 'user_id', 'session_id', 'id'].includes(name);

type Check = (connection: Database, checked: ColumnsToCheck) => Promise<void>;

/**
 * The checks of an engine's columns. Each fails with the error that `refuse` makes, with the statements that
 * correct the tables if there are any.
 */
interface Checks {
  /** Requires that the columns of the ids compare them exactly. */
  readonly toRead: Check;
  /** Requires that of the tables of `@google/adk`, whose columns differ. */
  readonly toReadOfAdk: Check;
  /** Requires also that no column loses data. */
  readonly toWrite: Check;
}

export const EXACTNESS: Readonly<Record<EngineKind, Checks>> = {
  sqlite: {
    toRead: requireNoCollation,
    toReadOfAdk: requireNoCollation,
    toWrite: requireNoCollation,
  },
  postgresql: {
    toRead: requireDeterministic,
    toReadOfAdk: requireDeterministic,
    toWrite: requireDeterministic,
  },
  mysql: {
    toRead: requireExactIds,
    toReadOfAdk: requireDistinctIds,
    toWrite: requireExactColumns,
  },
};

/** Reads the collations from the statements that created the tables: SQLite keeps them nowhere else. */
async function requireNoCollation(
  connection: Database,
  { names, columns, refuse }: ColumnsToCheck,
): Promise<void> {
  const ids = columns.filter(isId);
  const tables = [...new Set(ids.map(({ table }) => names.prefix + table))];
  if (tables.length === 0) return;
  const { rows } = await sql<{ name: string; text: string }>`
    select name, sql as text from sqlite_master
    where type = 'table' and name in (${sql.join(tables)})`.execute(connection);
  for (const { name, text } of rows) {
    const statement = text.replaceAll(/--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'/g, ' ');
    const collation = /\bcollate\s+["`[]?(?!binary\b)(\w+)/i.exec(statement)?.[1];
    if (collation === undefined) continue;
    throw refuse(
      `compares columns of ${name} by the collation ${collation}, so that ids which differ find each other's rows; copy the table into one without COLLATE`,
    );
  }
}

/** Checks the collations that columns name. The default collation of a database is always deterministic. */
async function requireDeterministic(
  connection: Database,
  { names, columns, refuse }: ColumnsToCheck,
): Promise<void> {
  const ids = columns.filter(isId);
  const named = ids.flatMap(({ collation }) => collation ?? []);
  if (named.length === 0) return;
  // Read through JSON, since older servers lack this column, and with it such collations.
  const { rows } = await sql<{ name: string }>`
    select collname as name from pg_collation
    where collname in (${sql.join([...new Set(named)])})
      and to_jsonb(pg_collation) ->> 'collisdeterministic' = 'false'`.execute(connection);
  const wrong = ids.filter(({ collation }) => rows.some(({ name }) => name === collation));
  if (wrong.length === 0) return;
  const statements = wrong.map(
    ({ table, name, type }) =>
      `ALTER TABLE ${fullName(names, table, '"')} ALTER COLUMN "${name}" TYPE ${type} COLLATE "C";`,
  );
  throw refuse(
    `compares ids by a collation that is not deterministic, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
  );
}

/** On MySQL and MariaDB only the collation of {@link readMysqlCollation} compares exactly. */
async function requireExactIds(connection: Database, checked: ColumnsToCheck): Promise<void> {
  const exact = await readMysqlCollation(connection);
  if (checked.columns.filter(isId).every(({ collation }) => collation === exact)) return;
  return requireExactColumns(connection, checked);
}

/**
 * Requires columns that lose nothing, on MySQL and MariaDB. In tables that Python made there, times may be
 * kept to the second and long texts cut off. `Alice` may also find `alice`'s session.
 */
async function requireExactColumns(
  connection: Database,
  { names, columns, refuse }: ColumnsToCheck,
): Promise<void> {
  const exact = await readMysqlCollation(connection);
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
  const keys = await foreignKeys(connection, names);
  const [events, sessions] = [fullName(names, 'events', '`'), fullName(names, 'sessions', '`')];
  const all = [
    ...keys.map((name) => `ALTER TABLE ${events} DROP FOREIGN KEY \`${name}\``),
    ...statements,
    `ALTER TABLE ${events} ADD FOREIGN KEY (app_name, user_id, session_id) REFERENCES ${sessions} (app_name, user_id, id) ON DELETE CASCADE`,
  ];
  throw refuse(`has columns that would lose data; run: ${all.join('; ')};`);
}

/**
 * Requires that no two ids are equal under the columns' collation. The tables of `@google/adk` itself on
 * MySQL and MariaDB compare ids without case. They can be read only if no two stored ids are equal that way.
 */
async function requireDistinctIds(
  connection: Database,
  { names, columns, refuse }: ColumnsToCheck,
): Promise<void> {
  for (const name of ['app_name', 'user_id']) {
    const all = columns
      .filter((column) => column.name === name && column.table !== 'events')
      .map(
        ({ table }) => sql`select ${sql.ref(name)} as id from ${sql.table(names.prefix + table)}`,
      );
    const { rows } = await sql<{ exact: unknown; alike: unknown }>`
      select count(distinct binary id) as exact, count(distinct id) as alike
      from (${sql.join(all, sql` union all `)}) as ids`.execute(connection);
    if (rows.every(({ exact, alike }) => Number(exact) === Number(alike))) continue;
    throw refuse(
      `has values of ${name} that differ only in ways that its columns do not compare, such as case, so that they find each other's rows; rename them, or give the columns a binary collation`,
    );
  }
}

async function foreignKeys(
  connection: Database,
  { schema, prefix }: TableNames,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select constraint_name as name from information_schema.table_constraints
    where table_schema = ${schema ?? sql`database()`}
      and table_name = ${`${prefix}events`}
      and constraint_type = 'FOREIGN KEY'`.execute(connection);
  return rows.map(({ name }) => name);
}
