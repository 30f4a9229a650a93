/** The SQL that creates the tables, for operators who do not let a program create them. */
import {
  type Dialect,
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { EngineKind } from '../database/engines/engine.js';
import { DATABASE_LAYOUT } from '../database/tables/layout.js';
import { onlineIndexStatement } from '../database/tables/online_indices.js';
import {
  indices,
  metadataRows,
  MYSQL_COLLATIONS,
  tableStatements,
} from '../database/tables/schema.js';
import { withTableNames } from '../database/tables/renaming.js';
import { requireTableNames } from '../database/tables/table_names.js';
import type { Tables } from '../database/tables/tables.js';
import { invalid } from '../errors/invalid.js';

const DIALECT_PARTS: Readonly<
  Record<EngineKind, Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>>
> = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgresql: {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  mysql: {
    createAdapter: () => new MysqlAdapter(),
    createIntrospector: (database) => new MysqlIntrospector(database),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  },
};

const ENGINES: Readonly<Record<string, EngineKind>> = {
  sqlite: 'sqlite',
  postgresql: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/**
 * Returns the SQL that creates the tables and indices. Indices are created without blocking writers: on
 * PostgreSQL this must run outside of a transaction.
 *
 * @throws SessionError `invalid_argument` if the engine is unknown or a name is invalid
 */
export function schemaSql(
  engine: string | undefined,
  options: { schema?: string | undefined; tablePrefix?: string | undefined },
): string {
  const kind = engine !== undefined && Object.hasOwn(ENGINES, engine) ? ENGINES[engine] : undefined;
  if (kind === undefined) throw invalid('ENGINE', 'must be sqlite, postgresql, mysql or mariadb');
  const names = requireTableNames(kind, options);
  const dialect = { ...DIALECT_PARTS[kind], createDriver: () => new DummyDriver() };
  const database = withTableNames(new Kysely<Tables>({ dialect }), names, true);
  const schema = { kind, layout: DATABASE_LAYOUT, names };
  const collation = engine === 'mariadb' ? MYSQL_COLLATIONS.mariadb : MYSQL_COLLATIONS.mysql;
  const statements = [
    ...tableStatements(database, schema, collation).map((statement) => statement.compile().sql),
    ...metadataRows(DATABASE_LAYOUT).map(([key, value]) => {
      const into = sql`into ${sql.table(DATABASE_LAYOUT.metadata)} (${sql.ref('key')}, value) values (${sql.lit(key)}, ${sql.lit(value)})`;
      const insert = {
        sqlite: sql`insert or ignore ${into}`,
        postgresql: sql`insert ${into} on conflict do nothing`,
        mysql: sql`insert ignore ${into}`,
      }[kind];
      return insert.compile(database).sql;
    }),
    ...indices(schema).map((index) => onlineIndexStatement(kind, index).compile(database).sql),
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}
