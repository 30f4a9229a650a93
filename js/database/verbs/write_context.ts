import type { ReadContext } from './current_rows.js';
import type { CurrentRowsStatements } from './current_rows_statements.js';
import type { SessionStatements } from './session_statements.js';
import type { TermStatements } from './terms.js';
import type { writeStatements } from './write_statements.js';

export type Statements = SessionStatements &
  CurrentRowsStatements &
  TermStatements &
  ReturnType<typeof writeStatements>;

/** What a write needs. */
export interface WriteContext extends ReadContext {
  readonly statements: Statements;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}
