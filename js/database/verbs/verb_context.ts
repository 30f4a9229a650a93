import type { Engine } from '../engines/engine.js';
import type { Layout } from '../tables/layout.js';
import type { Revisions } from '../tables/revisions.js';
import type { Database } from '../tables/tables.js';
import { currentRowsStatements } from './current_rows_statements.js';
import { deleteStatements } from './delete.js';
import { describeStatements } from './describe.js';
import { listStatements } from './list.js';
import { readStatements } from './read.js';
import { sessionStatements } from './session_statements.js';
import { termStatements } from './terms.js';
import { writeStatements } from './write_statements.js';

/** What every verb works with: a connected database whose tables were accepted. */
export interface VerbContext {
  readonly engine: Engine;
  readonly layout: Layout;
  readonly statements: Statements;
  readonly revisions: Revisions;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Whether all titles and labels have their terms. */
  hasTerms: boolean;
}

/** The statements of all verbs. */
export type Statements = ReturnType<typeof sessionStatements> &
  ReturnType<typeof currentRowsStatements> &
  ReturnType<typeof readStatements> &
  ReturnType<typeof writeStatements> &
  ReturnType<typeof deleteStatements> &
  ReturnType<typeof listStatements> &
  ReturnType<typeof describeStatements> &
  ReturnType<typeof termStatements>;

/** Makes the statements of all verbs. */
export function verbStatements(database: Database, usual: Engine, layout: Layout): Statements {
  const engine = layout.engineOf(usual);
  return {
    ...sessionStatements(database, engine, layout),
    ...currentRowsStatements(database, engine, layout),
    ...readStatements(database, engine, layout),
    ...writeStatements(database, engine),
    ...deleteStatements(database, engine, layout),
    ...listStatements(database, engine),
    ...describeStatements(database, engine),
    ...termStatements(database, engine, layout),
  };
}
