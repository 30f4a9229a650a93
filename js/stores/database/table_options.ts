// Uses no type of Kysely: a page that opens services by URI does not have Kysely.

/** Options that choose the tables. */
export interface TableOptions {
  /**
   * Whether missing tables and indices are created; default: `true`. Building an index on tables that others
   * write to takes one connection of the pool until it is done. With `false`, Python's tables can be read
   * without ours, and `npx adk-session-wasm schema` prints the statements that create them.
   */
  createTables?: boolean | undefined;
  /** PostgreSQL: the schema of the tables; MariaDB: the database. It must exist. */
  schema?: string | undefined;
  /** The prefix of the tables' names. Python only knows tables without a prefix. */
  tablePrefix?: string | undefined;
}
