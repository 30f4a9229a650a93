/** The SQL that creates the tables, for operators who do not let a program create them. */
import { sql } from 'kysely';
import type { EngineKind } from '../database/engines/engine.js';
import { ENGINES } from '../database/engines/engines.js';
import { DATABASE_LAYOUT } from '../database/tables/layout.js';
import { onlineIndexStatement } from '../database/tables/online_indices.js';
import { indices, metadataRows, tableStatements } from '../database/tables/schema.js';
import { withTableNames } from '../database/tables/renaming.js';
import type { TableNames } from '../database/tables/table_names.js';
import { queryBuilder } from '../database/tables/tables.js';

/**
 * Returns the SQL that creates the tables and indices. Indices are created without blocking writers: on
 * PostgreSQL this must run outside of a transaction.
 */
export function schemaSql(kind: EngineKind, isMariadb: boolean, names: TableNames): string {
  const engine = ENGINES[kind];
  const database = withTableNames(queryBuilder(engine), names);
  const schema = { database, engine, layout: DATABASE_LAYOUT, names };
  const collation = engine.exactCollations?.[isMariadb ? 'mariadb' : 'mysql'] ?? '';
  const statements = [
    ...tableStatements(schema, collation).map((statement) => statement.compile().sql),
    ...metadataRows(DATABASE_LAYOUT).map(([key, value]) => {
      const into = sql`into ${sql.table(DATABASE_LAYOUT.metadata)} (${sql.ref('key')}, value) values (${sql.lit(key)}, ${sql.lit(value)})`;
      return engine.insertIfAbsent(into).compile(database).sql;
    }),
    ...indices(schema).map(
      (index) => onlineIndexStatement(engine, index, isMariadb).compile(database).sql,
    ),
  ];
  const advice = isMariadb ? '' : engine.indexAdvice;
  return advice + statements.map((statement) => `${statement};\n`).join('');
}
