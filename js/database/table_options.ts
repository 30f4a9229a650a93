// No type of Kysely here: a page that opens services by URI has it not.

/**
 * Which tables are used.
 *
 * @example
 * ```ts
 * import { DatabaseSessionService, type TableOptions } from 'adk-session-wasm/database';
 *
 * const options: TableOptions = { schema: 'tenant_a', createTables: false };
 * const service = new DatabaseSessionService('postgresql://ada@127.0.0.1/agents', options);
 * await service.close();
 * ```
 */
export interface TableOptions {
  /**
   * Whether tables and indices that are missing are made; default: `true`. The build of an index on tables that
   * others write to takes one connection of the pool until it is done. With `false`, Python's tables can be read
   * without ours, and `npx adk-session-wasm schema` prints what makes them.
   */
  createTables?: boolean | undefined;
  /** PostgreSQL: the schema that the tables are in; MySQL and MariaDB: the database. It must be there. */
  schema?: string | undefined;
  /** What the names of the tables begin with. Python knows only tables without prefix. */
  tablePrefix?: string | undefined;
}
