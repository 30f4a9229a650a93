import { type QueryExecutorProvider, sql } from 'kysely';
import { fullName, isId, isText, isTime, type TableColumn } from '../../engine/columns.js';
import type { Engine, EngineTables } from '../../engine/engine.js';
import { refused } from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';
import { readProduct } from '../../engine/product.js';

/** Requires the collation of the product for ids: no other compares exactly. */
export function* requireExactIds(
  engine: Engine,
  tables: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const { collation: exact } = yield* readProduct(engine, tables.database);
  if (columns.filter(isId).every(({ collation }) => collation === exact)) return;
  // Fails, with the statements that correct all columns.
  yield* requireExactColumns(engine, tables, columns);
}

/**
 * Requires columns that lose nothing, on MariaDB. In tables that Python made there, times may be
 * kept to the second and long texts cut off. `Alice` may also find `alice`'s session.
 */
export function* requireExactColumns(
  engine: Engine,
  tables: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const { database, names } = tables;
  const { collation: exact } = yield* readProduct(engine, database);
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
 * MariaDB compare ids without case. They can be read only if no two stored ids are equal that way.
 */
export function* requireDistinctIds(
  engine: Engine,
  { database, names }: EngineTables,
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

function* foreignKeys({ database, names: { schema, prefix } }: EngineTables): Steps<string[]> {
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

/** The SQL mode of MariaDB in which a backslash is no escape. */
export const NO_ESCAPES = 'NO_BACKSLASH_ESCAPES';

/**
 * Requires that texts arrive as they are written.
 *
 * - A backslash must escape a quote. `mysql2` writes values into the SQL of statements that are not prepared, and
 *   escapes their quotes so. Without that an id could hold SQL.
 * - The connection's character set must hold all characters. It replaces each other one by a question mark.
 */
export function* requireExactTexts(engine: Engine, database: QueryExecutorProvider): Steps<void> {
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
