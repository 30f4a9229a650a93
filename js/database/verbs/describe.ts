import type { StorageDescribeRequest } from '../../storage/adapter.js';
import type { Engine } from '../engines/engine.js';
import { Prepared, type Steps, together } from '../transactions/prepared.js';
import type { Database } from '../tables/tables.js';
import { termInserts } from './terms.js';
import { detailsColumns, IS_DETAILS, type Key, keyOf, isSession } from './session_statements.js';
import type { VerbContext } from './verb_context.js';

/** The details of a session. Their key is `null` if the session has none. */
interface DetailsColumns {
  details: string | null;
  title: string | null;
  labels: string | null;
}

/** Makes the statement of {@link describe}. */
export function describeStatements(database: Database, engine: Engine) {
  return {
    details: new Prepared<Key, DetailsColumns>((value) =>
      database
        .selectFrom('sessions as s')
        .leftJoin('adk_session_wasm_details as d', (join) => join.on(IS_DETAILS))
        .select('d.session_id as details')
        .select(detailsColumns(engine))
        .where(isSession(value, 's')),
    ),
  };
}

/** Changes the title and the labels of a session, in our own tables alone. Returns whether the session exists. */
export function* describe(
  { engine, statements }: VerbContext,
  { key, title, labels }: StorageDescribeRequest,
): Steps<boolean> {
  const session = keyOf(key);
  if (engine.locksRows) yield* statements.locks.session.one.run(session);
  const [stored] = yield* statements.details.run(session);
  if (stored === undefined) return false;
  const { deleteDetails, deleteTerms, insertMissingDetails, updateDetails } = statements;
  const insert = stored.details === null ? [deleteDetails, insertMissingDetails] : [];
  const values = {
    ...session,
    title: title === undefined ? stored.title : title || null,
    labels: labels === undefined ? stored.labels : labels || null,
  };
  const queries = [
    ...insert.map((statement) => statement.of(session)),
    updateDetails.of(values),
    deleteTerms.of(session),
    ...termInserts(statements, session, values.title, values.labels),
  ];
  yield* together(queries, true);
  return true;
}

/** Stores the terms of sessions that an earlier version of this package has described. */
export function* addTerms({ engine, statements }: VerbContext, keys: readonly Key[]): Steps<void> {
  for (const key of keys) {
    if (engine.locksRows) yield* statements.locks.session.one.run(key);
    const [stored] = yield* statements.details.run(key);
    if (stored) yield* together(termInserts(statements, key, stored.title, stored.labels));
  }
}
