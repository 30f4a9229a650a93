import { sql } from 'kysely';
import { isId, type TableColumn } from '../../engine/columns.js';
import type { Engine, EngineTables } from '../../engine/engine.js';
import { refused } from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';

/** Whether SQLite keeps texts in a column of this type as they are. In any other, `007` could become `7`. */
const keepsText = (type: string) => /char|clob|text/i.test(type) && !/int/i.test(type);

/** Reads the collations from the statements that created the tables: SQLite keeps them nowhere else. */
export function* requireNoCollation(
  engine: Engine,
  { database, names }: EngineTables,
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
