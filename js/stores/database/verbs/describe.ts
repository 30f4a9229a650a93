import type { StorageDescribeRequest } from '../../../core/storage/requests.js';
import type { Engine } from '../engine/engine.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import type { Database } from '../tables/tables.js';
import { currentRowsStatements } from '../statements/current_rows_statements.js';
import {
  detailsColumns,
  JOINS_DETAILS,
  type Key,
  keyOf,
  matchesSession,
} from '../statements/session_statements.js';
import type { VerbContext } from '../statements/verb_context.js';
import { lockMutation } from './mutations.js';
import { writeStatements } from '../statements/write_statements.js';

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
        .selectFrom('sessions as session')
        .leftJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
        .select('details.session_id as details')
        .select(detailsColumns(engine))
        .where(matchesSession(value, 'session')),
    ),
  };
}

/** Changes the title and the labels of a session, in our own tables alone. Returns whether the session exists. */
export function* describe(
  context: VerbContext,
  { key, title, labels, mutation: given }: StorageDescribeRequest,
): Steps<boolean> {
  const session = keyOf(key);
  const mutation = yield* lockMutation(context, session, given);
  const stored = yield* lockedDetails(context, session);
  if (stored === undefined) return false;
  const { statements } = context;
  const { deleteOne, insertMissingDetails, updateDetails } = statements(writeStatements);
  // An earlier session with this id may have left details.
  const insert = stored.details === null ? [deleteOne.details, insertMissingDetails] : [];
  const values = {
    ...session,
    title: title === undefined ? stored.title : title || null,
    labels: labels === undefined ? stored.labels : labels || null,
  };
  const queries = [...insert.map((statement) => statement.of(session)), updateDetails.of(values)];
  if (mutation !== undefined) queries.push(mutation.applied());
  yield* together(queries, true);
  return true;
}

/** Locks a session and reads its details; `undefined` if there is no such session. */
function* lockedDetails(
  { engine, statements }: VerbContext,
  session: Key,
): Steps<DetailsColumns | undefined> {
  const { locks } = statements(currentRowsStatements);
  if (engine.transactions.locksRows) yield* locks.session.one.run(session);
  const [details] = yield* statements(describeStatements).details.run(session);
  return details;
}
