import type { Engine } from '../engine/engine.js';
import type { FirstEvents } from '../tables/markers.js';
import type { Layout } from '../tables/layout.js';
import type { Revisions } from '../tables/revisions.js';
import type { SessionRows } from '../tables/session_rows.js';
import type { Database } from '../tables/tables.js';

/** What every verb works with: a connected database whose tables were accepted. */
export interface VerbContext {
  readonly engine: Engine;
  readonly layout: Layout;
  /** Puts the tables' full names into every query that is built with it. */
  readonly database: Database;
  /** Returns statements, which are made at their first use. */
  readonly statements: <Statements>(make: MakeStatements<Statements>) => Statements;
  readonly revisions: Revisions;
  readonly sessionRows: SessionRows;
  readonly firstEvents: FirstEvents;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Makes the statements of a verb, or those that several verbs share. */
export type MakeStatements<Statements> = (
  database: Database,
  engine: Engine,
  layout: Layout,
) => Statements;

/** Returns {@link VerbContext.statements} over the tables of a database. */
export function statementsOver(
  database: Database,
  usual: Engine,
  layout: Layout,
): VerbContext['statements'] {
  const engine = layout.engineOf?.(usual) ?? usual;
  const made = new Map<MakeStatements<unknown>, unknown>();
  return <Statements>(make: MakeStatements<Statements>): Statements => {
    if (!made.has(make)) made.set(make, make(database, engine, layout));
    return made.get(make) as Statements;
  };
}
