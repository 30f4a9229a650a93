/**
 * Ids are compared to the letter. Tables that others made may compare them otherwise: `ada` would then read
 * and delete the sessions of `ADA`.
 */
import { sql } from 'kysely';
import type { SessionError } from '../../errors/errors.js';
import type { EngineKind } from '../engines/engine.js';
import { exactCollation } from './schema.js';
import { fullName, type TableNames } from './table_names.js';
import type { Database } from './tables.js';

/** A column of a table that is there. */
export interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The collation that the column names; SQLite does not tell it. */
  readonly collation: string | null;
}

/** What is looked at, and how an error about it is made. */
interface Checked {
  readonly kind: EngineKind;
  readonly names: TableNames;
  /** Of Python's tables. */
  readonly columns: readonly Column[];
  /** Makes the error of what is said of the database. */
  readonly refuse: (what: string) => SessionError;
}

export const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
export const isText = (name: string) => name === 'state' || name === 'event_data';
const isId = (name: string) => ['app_name', 'user_id', 'session_id', 'id'].includes(name);

/**
 * @throws SessionError what `refuse` makes, with the statements that correct the tables where there are any
 */
export async function requireExactIds(connection: Database, checked: Checked): Promise<void> {
  const ids = checked.columns.filter(({ name }) => isId(name));
  switch (checked.kind) {
    case 'sqlite':
      return requireNoCollation(connection, checked, ids);
    case 'postgresql':
      return requireDeterministic(connection, checked, ids);
    case 'mysql': {
      const exact = await exactCollation(connection);
      if (ids.every(({ collation }) => collation === exact)) return;
      return requireExactColumns(connection, checked);
    }
  }
}

/** A collation stands only in the text that made the table. */
async function requireNoCollation(
  connection: Database,
  { names, refuse }: Checked,
  ids: readonly Column[],
): Promise<void> {
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

/** The default collation of a database is always deterministic. */
async function requireDeterministic(
  connection: Database,
  { names, refuse }: Checked,
  ids: readonly Column[],
): Promise<void> {
  const named = ids.flatMap(({ collation }) => collation ?? []);
  if (named.length === 0) return;
  // By way of JSON, since older servers have no such column, nor such collations.
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

/**
 * Tables that Python made under MySQL or MariaDB may keep times to the second, cut long texts off, and
 * read `alice`'s session for `Alice`.
 */
export async function requireExactColumns(
  connection: Database,
  { names, columns, refuse }: Checked,
): Promise<void> {
  const exact = await exactCollation(connection);
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
  // A column that a foreign key goes by cannot be changed.
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
 * `@google/adk`'s own tables on MySQL and MariaDB compare ids without case. They can be read as long as no two
 * ids are the same to them, which only the ids that are there tell.
 *
 * @throws SessionError what `refuse` makes
 */
export async function requireDistinctIds(
  connection: Database,
  { names, columns, refuse }: Checked,
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
