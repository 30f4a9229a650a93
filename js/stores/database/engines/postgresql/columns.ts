import { sql } from 'kysely';
import { fullName, isId, type TableColumn } from '../../engine/columns.js';
import type { Engine, EngineTables } from '../../engine/engine.js';
import { refused } from '../../engine/failure.js';
import { runOnce, type Steps } from '../../engine/prepared.js';

/** PostgreSQL's types that compare all characters. `citext` ignores case, and `character` blanks at the end. */
const EXACT_TYPES = ['character varying', 'text'];

/** Checks the types and the collations that columns name. The default collation of a database is always deterministic. */
export function* requireDeterministic(
  engine: Engine,
  { database, names }: EngineTables,
  columns: readonly TableColumn[],
): Steps<void> {
  const ids = columns.filter(isId);
  const alter = ({ table, name }: TableColumn, type: string) =>
    `ALTER TABLE ${fullName(names, table, '"')} ALTER COLUMN "${name}" TYPE ${type};`;
  const inexact = ids.filter(({ type }) => !EXACT_TYPES.includes(type));
  if (inexact.length > 0) {
    const statements = inexact.map((column) => alter(column, 'text'));
    throw refused(
      engine,
      `has ids of a type that does not compare all characters, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
    );
  }
  const named = ids.flatMap(({ collation }) => collation ?? []);
  if (named.length === 0) return;
  // Read through JSON, since older servers lack this column, and with it such collations.
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`
      select collname as name from pg_collation
      where collname in (${sql.join([...new Set(named)])})
        and to_jsonb(pg_collation) ->> 'collisdeterministic' = 'false'`,
  );
  const wrong = ids.filter(({ collation }) => rows.some(({ name }) => name === collation));
  if (wrong.length === 0) return;
  const statements = wrong.map((column) => alter(column, `${column.type} COLLATE "C"`));
  throw refused(
    engine,
    `compares ids by a collation that is not deterministic, so that ids which differ find each other's rows; run: ${statements.join(' ')}`,
  );
}
