import type { StorageDescribeRequest } from '../../../core/storage/requests.js';
import { type Steps, together } from '../engine/prepared.js';
import { currentRowsStatements } from '../statements/current_rows_statements.js';
import { keyOf } from '../statements/session_statements.js';
import type { VerbContext } from '../statements/verb_context.js';
import { writeStatements } from '../statements/write_statements.js';
import { lockMutation } from './mutations.js';
import { textOrNull } from './write.js';

/** Changes the title and the labels of a session, in our own tables alone. Returns whether the session exists. */
export function* describe(
  context: VerbContext,
  { key, title, labels, mutation: given }: StorageDescribeRequest,
): Steps<boolean> {
  const { statements } = context;
  const session = keyOf(key);
  const mutation = yield* lockMutation(context, session, given);
  const [stored] = yield* statements(currentRowsStatements).locks.session.one.run(session);
  if (stored === undefined) return false;
  const values = { ...session, title: textOrNull(title), labels: textOrNull(labels) };
  const { deleteOldDetails, insertMissingDetails, updateDetails } = statements(writeStatements);
  // An earlier session with this id may have left details.
  const queries = [deleteOldDetails.of(session), insertMissingDetails.of(session)];
  if (title !== undefined) queries.push(updateDetails.title.of(values));
  if (labels !== undefined) queries.push(updateDetails.labels.of(values));
  if (mutation !== undefined) queries.push(...mutation.applied());
  yield* together(queries, true);
  return true;
}
