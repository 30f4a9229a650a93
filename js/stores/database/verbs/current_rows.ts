/** Reads the rows that a write decides on, and locks those that it may change. */
import {
  SHARED_SCOPES,
  type SharedScope,
  STORED_PREFIXES,
  type StoredScope,
} from '../../../values/state/scope.js';
import type { StorageWriteRequest } from '../../../core/storage/requests.js';
import { type EventRow, type Found, NO_ROWS, type SessionRow } from '../../../core/storage/rows.js';
import { filledChunks, mostItems } from '../statements/statement_sizes.js';
import {
  type CurrentColumns,
  currentRowsStatements,
} from '../statements/current_rows_statements.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { lookUp, type Read, readTogether } from '../transactions/lookup.js';
import type { Query, QueryResults, Steps } from '../engine/prepared.js';
import { type EventColumns, eventRow, joinedState, type SessionColumns } from '../tables/rows.js';
import { type Key, keyOf, ownerName } from '../statements/session_statements.js';
import {
  LAST_REVISION,
  LOOK_BACK_EVENTS,
  LOOK_BACK_MICROS,
  parseTime,
} from '../../../values/python/micros.js';
import type { RevisionColumns } from '../tables/revisions.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The most ids in one query. Engines limit the number of a query's parameters. */
const MAX_IDS = 1024;

/** The rows that a write decides on, and the columns of the side table that `Found` has no place for. */
export interface CurrentRows {
  readonly key: Key;
  readonly found: Found;
  /** Our row beside the session, if there is one, with the time at which an event was last replaced. */
  readonly sideTableRow?: { readonly replacedAt: StoredTime | null } | undefined;
}

/** What a write asks for. */
type CurrentRequest = Pick<StorageWriteRequest, 'key' | 'scopes' | 'eventIds' | 'since'>;

/** The rows that a request needs, and those of them that have to be locked. */
interface RowPlan {
  readonly request: CurrentRequest;
  readonly key: Key;
  readonly wants: Readonly<Record<StoredScope, boolean>>;
  readonly locks: Readonly<Record<StoredScope, boolean>>;
}

const NO_EVENTS: Read<EventRow[]> = { queries: [], result: () => [] };

/**
 * Reads the rows for a write, or for a group of writes to different sessions. On servers it first locks them,
 * always in the order session, app, user.
 *
 * A create does not lock the session, because it never changes a stored one. It locks the app only if it
 * changes keys of the app: otherwise all creates of an app would wait for each other. It always locks the
 * user, so that it cannot run beside that user's deletion.
 *
 * A group waits for no session: it skips those that another transaction holds, which may hold them for long.
 * It locks apps and users sorted by their names. So groups, single writes and deletions never wait for each
 * other in a circle.
 *
 * If the engine `locksSessionsAlone`, nothing else is locked if a session is missing.
 *
 * On servers, a row that the lock did not return counts as missing, even if the query returns it. Such a row
 * was inserted in between and is not locked. The write then inserts it too, which fails, and the transaction
 * is run again.
 *
 * @param locksApp whether the write may change the app's state
 * @returns the rows of each request; `undefined` for a member of a group that has to run alone, because its
 *   session is missing or held by another transaction
 */
export function* readCurrentRows(
  context: VerbContext,
  requests: readonly CurrentRequest[],
  isCreate: boolean,
  locksApp: boolean,
): Steps<readonly (CurrentRows | undefined)[]> {
  const { engine, statements } = context;
  const { locks, current: currentOf } = statements(currentRowsStatements);
  const isGroup = requests.length > 1;
  const plans = requests.map((request) => planOf(engine, request, isCreate, locksApp));
  const locked = plans.filter(({ locks }) => locks.session).map(({ key }) => key);
  const sessionLock = lookUp(isGroup ? locks.freeSession : locks.session, locked);
  let lockedFirst: readonly unknown[] | undefined;
  if (engine.transactions.locksSessionsAlone && locked.length > 0) {
    [lockedFirst] = yield* readTogether([sessionLock]);
    if (lockedFirst.includes(undefined)) {
      return plans.map(({ key }) => {
        return isGroup ? undefined : { key, found: NO_ROWS, sideTableRow: undefined };
      });
    }
  }
  const [lockedNow, apps, users, rows, ...events] = yield* readTogether([
    lockedFirst === undefined ? sessionLock : NO_EVENTS,
    lockShared(context, plans, 'app'),
    lockShared(context, plans, 'user'),
    lookUp(currentOf(wantedScopes(plans)), plans.map(eventKey)),
    ...plans.map((plan) => eventsByIds(context, plan)),
  ]);
  const sessions = lockedFirst ?? lockedNow;
  const missing = new Set(locked.filter((_, index) => sessions[index] === undefined));
  const current = plans.map((plan, index): CurrentRows | undefined => {
    const { key, locks } = plan;
    if (isGroup && missing.has(key)) return undefined;
    const hasLocked = {
      session: !missing.has(key),
      app: !locks.app || apps.has(ownerName.app(key)),
      user: !locks.user || users.has(ownerName.user(key)),
    };
    return currentRows(context, plan, rows[index], events[index] ?? [], hasLocked);
  });
  return yield* withChanged(context, plans, rows, current);
}

function planOf(
  { transactions: { locksRows: locks } }: Engine,
  request: CurrentRequest,
  isCreate: boolean,
  locksApp: boolean,
): RowPlan {
  const { userId, sessionId } = request.key;
  const wants = {
    session: sessionId !== undefined,
    app: isCreate || request.scopes.includes('app'),
    user: userId !== undefined && (isCreate || request.scopes.includes('user')),
  };
  return {
    request,
    key: keyOf(request.key),
    wants,
    locks: {
      session: locks && wants.session && !isCreate,
      app: locks && wants.app && locksApp,
      user: locks && wants.user,
    },
  };
}

/** Locks the rows of an app or a user that the plans name, in the order of their names. */
function lockShared(
  { statements }: VerbContext,
  plans: readonly RowPlan[],
  scope: SharedScope,
): Read<ReadonlySet<string>> {
  const keys = new Map<string, Key>();
  for (const { key, locks } of plans) if (locks[scope]) keys.set(ownerName[scope](key), key);
  const names = [...keys.keys()].sort();
  const sorted = names.flatMap((name) => keys.get(name) ?? []);
  const { queries, result } = lookUp(statements(currentRowsStatements).locks[scope], sorted);
  return {
    queries,
    result(results) {
      const rows = result(results);
      return new Set(names.filter((_, index) => rows[index] !== undefined));
    },
  };
}

function wantedScopes(plans: readonly RowPlan[]): SharedScope[] {
  return SHARED_SCOPES.filter((scope) => plans.some(({ wants }) => wants[scope]));
}

/** A single event is joined to the session's row. Several would repeat that row. */
function eventKey({ key: { app, user, session }, request: { eventIds } }: RowPlan) {
  return { app, user, session, event: eventIds.length === 1 ? (eventIds[0] ?? '') : '' };
}

function eventsByIds(
  context: VerbContext,
  { key, request: { eventIds } }: RowPlan,
): Read<EventRow[]> {
  return eventIds.length <= 1 ? NO_EVENTS : findEvents(context, key, eventIds, eventRow);
}

/** Reads events of a session by their ids. */
export function findEvents(
  { engine, statements }: VerbContext,
  key: Key,
  eventIds: readonly string[],
  rowOf: (columns: EventColumns) => EventRow,
): Read<EventRow[]> {
  const { event, events } = statements(currentRowsStatements);
  if (event.many !== undefined) {
    const keys = Array.from(new Set(eventIds), (id) => ({ ...key, event: id }));
    const { queries, result } = lookUp(event, keys);
    return {
      queries,
      result: (results) => result(results).flatMap((row) => (row === undefined ? [] : rowOf(row))),
    };
  }
  const queries = [...filledChunks(eventIds, mostItems(engine, MAX_IDS))].map((chunk) => {
    const values: Key & Record<`id${number}`, string> = { ...key };
    for (const [index, id] of chunk.entries()) values[`id${index}`] = id;
    return events(chunk.length).of(values);
  });
  return { queries, result: (results) => (results.flat() as EventColumns[]).map(rowOf) };
}

/** @param several the events of a request with more than one event */
function currentRows(
  { sessionRows }: VerbContext,
  { key, request, wants }: RowPlan,
  row: CurrentColumns | undefined,
  several: EventRow[],
  has: Readonly<Record<StoredScope, boolean>>,
): CurrentRows {
  const { appName, userId = '', sessionId = '' } = request.key;
  const session =
    wants.session && has.session && hasSession(row)
      ? sessionRows.read({ appName, userId, sessionId }, row)
      : undefined;
  const app = row && wants.app && has.app ? joinedState(row.app_state, row.app_time) : undefined;
  const user =
    row && wants.user && has.user ? joinedState(row.user_state, row.user_time) : undefined;
  const states: Record<StoredScope, unknown> = { session, app, user };
  const isAnyAbsent = STORED_PREFIXES.some(([scope]) => wants[scope] && !states[scope]);
  const floor = isAnyAbsent ? Number(row?.floor ?? 0) : 0;
  const single = hasEvent(row) ? [eventRow(row)] : [];
  const events = request.eventIds.length > 1 ? several : single;
  return {
    key,
    found: {
      session,
      app,
      user,
      events: session ? events : [],
      changed: [],
      // Python stores an event's own time in the column, which may be later than the session's `update_time`.
      floor: Math.max(floor, (session && parseTime(row?.newest)) ?? 0),
    },
    sideTableRow:
      session && row && row.side_time !== null ? { replacedAt: row.replaced_at } : undefined,
  };
}

function hasSession(row: CurrentColumns | undefined): row is CurrentColumns & SessionColumns {
  return row !== undefined && row.state !== null;
}

function hasEvent(row: CurrentColumns | undefined): row is CurrentColumns & EventColumns {
  return row !== undefined && row.id !== null;
}

/** Adds to each request's rows the events that its handle lacks. */
function* withChanged(
  context: VerbContext,
  plans: readonly RowPlan[],
  rows: readonly (CurrentColumns | undefined)[],
  current: readonly (CurrentRows | undefined)[],
): Steps<readonly (CurrentRows | undefined)[]> {
  const reads = plans.map(({ key, request: { since } }, index) => {
    const session = current[index]?.found.session;
    const columns = rows[index];
    if (session === undefined || columns === undefined) return NO_EVENTS;
    return changedEvents(context, { key, since, session, columns });
  });
  if (reads.every((read) => read === NO_EVENTS)) return current;
  const changed = yield* readTogether(reads);
  return current.map((member, index) => {
    return member && { ...member, found: { ...member.found, changed: changed[index] ?? [] } };
  });
}

interface ChangedParts {
  readonly key: Key;
  readonly since: number;
  readonly session: SessionRow;
  readonly columns: RevisionColumns & Pick<CurrentColumns, 'update_time'>;
  /** The most events that are needed. Absent: all. */
  readonly limit?: number | undefined;
}

/**
 * Reads the events that changed after a revision, as their times tell it. Also reads events that may be new: Python may
 * append an event with an earlier time than a stored one. These are the last {@link LOOK_BACK_EVENTS} before the
 * revision, so far as they are not older than {@link LOOK_BACK_MICROS}. The caller skips the events that its handle has.
 */
export function changedEvents(
  { layout, statements }: VerbContext,
  { key, since, session, columns, limit = Infinity }: ChangedParts,
): Read<EventRow[]> {
  if (since >= session.revision || since > LAST_REVISION) return NO_EVENTS;
  const updated = parseTime(columns.update_time) ?? session.revision;
  const replacedAt = columns.side_time === null ? 0 : (parseTime(columns.replaced_at) ?? 0);
  const which = replacedAt > since ? 'changedOrReplaced' : 'changed';
  const { [which]: changedRows, lastBetween } = statements(currentRowsStatements);
  const isOfEmpty = since === session.created;
  const from = isOfEmpty ? 0 : Math.max(0, Math.min(since, updated) - LOOK_BACK_MICROS);
  const until = isOfEmpty ? from : Math.max(from, Math.min(since + 1, updated));
  const query = limit === Infinity ? changedRows.all : changedRows.first;
  const queries: Query[] = [query.of({ since: layout.time(until), limit, ...key })];
  if (until > from) {
    const times = { since: layout.time(from), until: layout.time(until) };
    queries.push(lastBetween.of({ ...times, limit: LOOK_BACK_EVENTS, ...key }));
  }
  const result = (results: QueryResults): EventRow[] => {
    // Trusts here that a query returns the rows that its builder promised.
    const [rows = [], before = []] = results as readonly (readonly EventColumns[])[];
    // There may be more, so it does not matter which of these have changed.
    if (rows.length >= limit) return rows.map(eventRow);
    const changed: EventRow[] = [];
    // A replaced event is in both.
    const ids = new Set(rows.map(({ id }) => id));
    const earlier = before.filter(({ id }) => !ids.has(id)).reverse();
    for (const columns of [...earlier, ...rows]) {
      const row = eventRow(columns);
      if (row.revision > since) {
        changed.push(row);
      } else if (isOfEmpty || (row.seq === updated && updated !== session.revision)) {
        // It is the last appended event, or the handle was loaded before the first one.
        changed.push({ ...row, seq: since + 1 });
      } else if (row.seq >= from) {
        changed.push(row);
      }
    }
    return changed;
  };
  return { queries, result };
}
