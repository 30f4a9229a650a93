/** Reads events of a session by their ids; see `Storage.readEvents`. */
import type { StorageEventsRequest } from '../../../core/storage/requests.js';
import type { FoundEvents } from '../../../core/storage/rows.js';
import type { Steps } from '../engine/prepared.js';
import { keyOf, sessionStatements } from '../statements/session_statements.js';
import type { VerbContext } from '../statements/verb_context.js';
import { sessionRow } from '../tables/rows.js';
import { lookUp, readTogether } from '../transactions/lookup.js';
import { findEvents } from './current_rows.js';
import { readStatements } from './read.js';

export function* readEvents(
  context: VerbContext,
  { key, eventIds }: StorageEventsRequest,
): Steps<FoundEvents> {
  const { revisions, statements } = context;
  const { merged } = statements(sessionStatements);
  const { rowOf } = statements(readStatements);
  const keys = keyOf(key);
  const reads = [
    lookUp({ one: merged }, [keys]),
    findEvents(context, keys, eventIds, rowOf),
  ] as const;
  const [[row], events] = yield* readTogether(reads, true);
  if (row === undefined) return { events: [] };
  return { session: revisions.withRevision(sessionRow(key, row), row), events };
}
