/** The SQL that creates the tables, for operators who do not let a program create them. */
import { sql } from 'kysely';
import type { TableNames, EngineKind } from '../stores/database/engine/engine.js';
import { ENGINES } from '../stores/database/engines/engines.js';
import { DATABASE_LAYOUT } from '../stores/database/tables/layout.js';
import {
  indices,
  metadataRows,
  tableStatements,
  withTableNames,
} from '../stores/database/tables/schema.js';
import { queryBuilder } from '../stores/database/tables/tables.js';

/**
 * Returns the SQL that creates the tables and indices. Indices are created without blocking writers: on
 * PostgreSQL this must run outside of a transaction.
 *
 * @param scheme names the product, such as MariaDB, where an engine stands for several
 */
export function schemaSql(kind: EngineKind, scheme: string, names: TableNames): string {
  const engine = ENGINES[kind];
  const product = engine.tables.productOf(scheme);
  const database = withTableNames(queryBuilder(engine), names);
  const schema = { database, engine, layout: DATABASE_LAYOUT, names };
  const statements = [
    ...tableStatements(schema, product.collation).map((statement) => statement.compile().sql),
    ...metadataRows(DATABASE_LAYOUT).map(([key, value]) => {
      const into = sql`into ${sql.table(DATABASE_LAYOUT.metadata)} (${sql.ref('key')}, value) values (${sql.lit(key)}, ${sql.lit(value)})`;
      return engine.queries.insertIfAbsent(into).compile(database).sql;
    }),
    ...indices(schema).map((index) => product.buildIndex(index).compile(database).sql),
  ];
  return product.indexAdvice + statements.map((statement) => `${statement};\n`).join('');
}
