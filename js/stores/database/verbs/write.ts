/** `create` and `append`: reads the rows, decides, writes the changes. */
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import type { Decide, StorageWrite, StorageWriteRequest } from '../../../core/storage/requests.js';
import { type Changes, type Found, NO_ROWS } from '../../../core/storage/rows.js';
import { readCurrentRows } from './current_rows.js';
import { GroupChanges } from './group_changes.js';
import { checkIds } from '../tables/limits.js';
import { type Query, type Steps, together } from '../engine/prepared.js';
import { lockOperation, type LockedOperation } from './operations.js';
import { keyOf } from '../statements/session_statements.js';
import type { VerbContext } from '../statements/verb_context.js';
import { millisecondsToMicros } from '../../../values/python/micros.js';
import { sessionName } from '../../../values/model/values/session_name.js';

/**
 * Runs a write, or a group of appends to different sessions, in one transaction: reads the rows of all
 * members, calls each `decide`, and writes all changes in the last request.
 *
 * A member whose `decide` returns `undefined` writes nothing. The others are not affected.
 *
 * @param decided the members that an attempt has decided. The caller takes them for stored if a later attempt is
 *   committed, so none of them may be left out then
 */
export function* write(
  context: VerbContext,
  writes: readonly StorageWrite[],
  isCreate: boolean,
  decided = new Set<StorageWrite>(),
): Steps<void> {
  const { engine } = context;
  const now = context.clock();
  const requests = writes.map(({ request }) => request);
  for (const request of requests) checkIds(engine, request);
  const operations = yield* lockOperations(context, writes);
  const locksApp =
    !isCreate || !engine.transactions.locksRows || writes.some(({ decide }) => changesApp(decide));
  const current = yield* readCurrentRows(context, requests, isCreate, locksApp);
  const group = new GroupChanges(context, isCreate ? now : undefined);
  const applied: Query[] = [];
  for (const [index, member] of writes.entries()) {
    const { request, decide } = member;
    const stored = current[index];
    const operation = operations.get(member);
    if (stored === undefined || operation === 'applied') {
      if (decided.has(member)) throw new SessionError('storage_failed', LEFT_OUT);
      continue;
    }
    decided.add(member);
    const rows = group.withChanges(stored, request.scopes);
    const changes = decideOnTime(rows.found, decide, request, now);
    if (changes === undefined) continue;
    group.add(rows, changes);
    if (operation !== undefined) applied.push(operation.applied(changes.session?.created));
  }
  const queries = [...group.queries(), ...applied];
  if (queries.length > 0) yield* together(queries, true);
}

/**
 * Locks the operations of the members, in one order. A group leaves out a member that was applied before; alone, it
 * is answered.
 */
function* lockOperations(
  context: VerbContext,
  writes: readonly StorageWrite[],
): Steps<Map<StorageWrite, LockedOperation | 'applied'>> {
  const operations = new Map<StorageWrite, LockedOperation | 'applied'>();
  const named = writes.flatMap((write) => {
    const { key, operation } = write.request;
    return operation === undefined ? [] : [{ write, operation, key: keyOf(key) }];
  });
  const name = ({ key: { app, user, session } }: (typeof named)[number]): string =>
    sessionName({ appName: app, userId: user, sessionId: session });
  named.sort((one, other) => (name(one) < name(other) ? -1 : 1));
  for (const { write, operation, key } of named) {
    try {
      const locked = yield* lockOperation(context, key, operation);
      if (locked !== undefined) operations.set(write, locked);
    } catch (error) {
      if (writes.length === 1 || !isSessionError(error, 'not_found')) throw error;
      operations.set(write, 'applied');
    }
  }
  return operations;
}

const LEFT_OUT =
  'A session of the group was locked or deleted after its append was decided; nothing was written.';

/**
 * Whether a create changes keys of the app. It then writes the app's state whatever is stored, so `decide`
 * can be asked with no rows.
 */
function changesApp(decide: Decide): boolean {
  return decide(NO_ROWS)?.app !== undefined;
}

/**
 * Calls `decide` with the floor raised to just below the time of the write, so that the new revisions are
 * times. The session's revision should equal its new `lastUpdateTime`, which the request nearly always tells.
 * One call of `decide` is then enough. If that time is not later than the stored revision, the next
 * microsecond is used. If it is in the future, the time now is used: revisions that run ahead would stay there,
 * in this session and, once it is deleted, in all new ones.
 *
 * The request does not tell how many of its events are stored already. Then the time and the number of new
 * revisions come from a first call of `decide`, and a second call uses them.
 */
function decideOnTime(
  found: Found,
  decide: Decide,
  { eventIds, lastUpdateTime = 0 }: StorageWriteRequest,
  now: number,
): Changes | undefined {
  const { session: stored, floor } = found;
  const revisionAt = (milliseconds: number) => millisecondsToMicros(Math.min(milliseconds, now));
  const expected = revisionAt(Math.max(lastUpdateTime, stored?.lastUpdateTime ?? 0));
  const count = Math.max(1, eventIds.length);
  if (lastUpdateTime > 0 && expected - count > Math.max(stored?.revision ?? 0, floor)) {
    const changes = decide(above(found, expected - count));
    const session = changes?.session;
    if (session === undefined) return changes;
    if (session.revision === revisionAt(session.lastUpdateTime)) return changes;
  }
  const changes = decide(found);
  if (changes === undefined) return undefined;
  const { session } = changes;
  const written = session ? session.revision - Math.max(stored?.revision ?? 0, floor) : 1;
  const last = session?.revision ?? changes.user?.revision ?? changes.app?.revision ?? 0;
  const time = revisionAt(session?.lastUpdateTime ?? now);
  return time <= last ? changes : decide(above(found, time - written));
}

function above({ session, app, user, events, changed }: Found, floor: number): Found {
  return { session, app, user, events, changed, floor };
}
