/** The columns of a database, and the names of its tables. */

/** The schema of the tables, and the prefix of their names. */
export interface TableNames {
  readonly schema: string | undefined;
  readonly prefix: string;
}

/** A column of the database. */
export interface TableColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** The collation, if the engine reports one. SQLite reports none. */
  readonly collation: string | null;
}

export const isTime = (name: string) => ['timestamp', 'create_time', 'update_time'].includes(name);
export const isText = (name: string) => name === 'state' || name === 'event_data';
export const isId = ({ name }: TableColumn) =>
  ['app_name', 'user_id', 'session_id', 'id'].includes(name);

/** Returns a table's full name for statements that are shown to people. */
export function fullName({ schema, prefix }: TableNames, table: string, quote: '"' | '`'): string {
  const name = `${quote}${prefix}${table}${quote}`;
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`;
}
