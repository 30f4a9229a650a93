/** `create` and `append`: reads the rows, decides, writes the changes. */
import type { Decide, StorageWrite, StorageWriteRequest } from '../../../core/storage/requests.js';
import {
  type Changes,
  type Found,
  NO_ROWS,
  type EventRow,
  type SharedRow,
} from '../../../core/storage/rows.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { keyText } from '../../../values/model/values/ids.js';
import { millisecondsToMicros } from '../../../values/python/micros.js';
import { SHARED_SCOPES, type SharedScope, type StoredScope } from '../../../values/state/scope.js';
import { type Query, type Steps, together } from '../engine/prepared.js';
import { keyOf, type Key, ownerName } from '../statements/session_statements.js';
import { exactChunks, mostItems } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';
import {
  deletionsBeside,
  type EventValues,
  type SessionValues,
  writeStatements,
} from '../statements/write_statements.js';
import { toEventData } from '../tables/event_data.js';
import { checkIds, checkEvent, checkMergeable, checkRow, checkStates } from '../tables/limits.js';
import { lookUp } from '../transactions/lookup.js';
import { readCurrentRows, type CurrentRows } from './current_rows.js';
import { lockMutation, type LockedMutation } from './mutations.js';

/**
 * Runs a write, or a group of appends to different sessions, in one transaction: reads the rows of all
 * members, calls each `decide`, and writes all changes in the last request.
 *
 * A member whose `decide` returns `undefined` writes nothing. The others are not affected.
 *
 * @param decided the members that an attempt has decided. The caller takes them for stored if a later attempt is
 *   committed, so none of them may be left out then
 * @param beside queries to run after those of the changes, if there are any
 */
export function* write(
  context: VerbContext,
  writes: readonly StorageWrite[],
  isCreate: boolean,
  decided = new Set<StorageWrite>(),
  beside: readonly Query[] = [],
): Steps<void> {
  const { engine } = context;
  const now = context.clock();
  const requests = writes.map(({ request }) => request);
  for (const request of requests) checkIds(engine, request);
  const mutations = yield* lockMutations(context, writes);
  const locksApp =
    !isCreate || !engine.transactions.locksRows || writes.some(({ decide }) => changesApp(decide));
  const current = yield* readCurrentRows(context, requests, isCreate, locksApp);
  const group = new GroupChanges(context, isCreate ? now : undefined);
  const applied: Query[] = [];
  for (const [index, member] of writes.entries()) {
    const { request, decide } = member;
    const stored = current[index];
    const mutation = mutations.get(member);
    if (stored === undefined || mutation === 'applied') {
      if (decided.has(member)) throw new SessionError('storage_failed', LEFT_OUT);
      continue;
    }
    decided.add(member);
    const rows = group.withChanges(stored, request.scopes);
    const changes = decideOnTime(rows.found, decide, request, now);
    if (changes === undefined) continue;
    group.add(rows, changes);
    if (mutation !== undefined) applied.push(...mutation.applied(changes.session?.created));
  }
  const changes = [...group.queries(), ...applied];
  const queries = changes.length > 0 ? [...changes, ...beside] : changes;
  if (queries.length > 0) yield* together(queries, true);
}

/**
 * Locks the mutations of the members, in one order. A group leaves out a member that was applied before; alone, it
 * is answered.
 */
function* lockMutations(
  context: VerbContext,
  writes: readonly StorageWrite[],
): Steps<Map<StorageWrite, LockedMutation | 'applied'>> {
  const mutations = new Map<StorageWrite, LockedMutation | 'applied'>();
  const named = writes.flatMap((write) => {
    const { key, mutation } = write.request;
    return mutation === undefined ? [] : [{ write, mutation, key: keyOf(key) }];
  });
  const name = ({ key: { app, user, session } }: (typeof named)[number]): string =>
    keyText({ appName: app, userId: user, sessionId: session });
  named.sort((one, other) => (name(one) < name(other) ? -1 : 1));
  for (const { write, mutation, key } of named) {
    try {
      const locked = yield* lockMutation(context, key, mutation);
      if (locked !== undefined) mutations.set(write, locked);
    } catch (error) {
      if (writes.length === 1 || !isSessionError(error, 'not_found')) throw error;
      mutations.set(write, 'applied');
    }
  }
  return mutations;
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

/** The most events in one statement. Engines limit the number of a statement's parameters. */
const MAX_ROWS = 128;

/** The values of an inserted event. */
const EVENT_COLUMNS = 7;

/** The most characters of several events in one statement. MariaDB limit the bytes of a statement. */
const MAX_TEXT = 2 ** 20;

/** The new state of a user or an app. */
interface SharedChange {
  readonly key: Key;
  readonly row: SharedRow;
  /** Whether the tables have a row for it. */
  readonly isStored: boolean;
}

/** Collects the changes of a group of writes, and makes the queries that write them. */
class GroupChanges {
  readonly #context: VerbContext;
  readonly #statements: ReturnType<typeof writeStatements>;
  /** The state of a user or an app that a creation finds absent: Python cannot append without its row. */
  readonly #absent: SharedRow | undefined;
  /** By the owner's name. */
  readonly #shared: Readonly<Record<SharedScope, Map<string, SharedChange>>> = {
    app: new Map(),
    user: new Map(),
  };
  /** Sessions whose state stays the same. */
  readonly #touched: SessionValues[] = [];
  readonly #updated: SessionValues[] = [];
  readonly #events: EventValues[] = [];
  readonly #removals: Query[] = [];
  /** Queries for one row each. */
  readonly #inserts: Query[] = [];
  readonly #others: Query[] = [];

  /** @param createdAt the time of a creation, in milliseconds */
  constructor(context: VerbContext, createdAt: number | undefined) {
    this.#context = context;
    this.#statements = context.statements(writeStatements);
    this.#absent =
      createdAt === undefined
        ? undefined
        : { revision: millisecondsToMicros(createdAt), state: '{}' };
  }

  /** Returns the rows of a write, with the states of user and app as earlier writes changed them. */
  withChanges(rows: CurrentRows, scopes: readonly StoredScope[]): CurrentRows {
    const { key, sideTableRow } = rows;
    let { found } = rows;
    for (const scope of SHARED_SCOPES) {
      const change = this.#shared[scope].get(ownerName[scope](key));
      if (change !== undefined && scopes.includes(scope)) found = { ...found, [scope]: change.row };
    }
    return { key, found, sideTableRow };
  }

  /** Adds the changes of a write. Throws before that if the tables cannot hold them. */
  add(rows: CurrentRows, changes: Changes): void {
    const { engine, layout } = this.#context;
    const { key, found } = rows;
    checkStates(engine, changes);
    if (layout.mergesInSql) checkMergeable(found, changes);
    const replacedAt = this.#addEvents(rows, changes.events);
    for (const scope of SHARED_SCOPES) {
      const row = changes[scope] ?? (found[scope] ? undefined : this.#absent);
      if (row === undefined) continue;
      const changed = this.#shared[scope];
      const name = ownerName[scope](key);
      checkRow(engine, `The state of the ${scope}`, { ...key, ...row });
      const isStored = changed.get(name)?.isStored ?? found[scope] !== undefined;
      changed.set(name, { key, row, isStored });
    }
    this.#addSession(rows, changes, replacedAt);
  }

  /**
   * Returns the queries. Apps and users come before the sessions, in the order of the locks. Of two creates
   * that find no row of the app, the second waits there and holds nothing that the first needs.
   */
  queries(): Query[] {
    const { touchSession, updateSession, insertEvents } = this.#statements;
    const most = mostItems(this.#context.engine, MAX_ROWS, EVENT_COLUMNS);
    const events = exactChunks(this.#events, most, areShort);
    return [
      ...SHARED_SCOPES.flatMap((scope) => this.#stateQueries(scope)),
      ...this.#inserts,
      ...this.#removals,
      ...lookUp(touchSession, this.#touched).queries,
      ...lookUp(updateSession, this.#updated).queries,
      ...events.map((some) => insertEvents(some.length).of(...some)),
      ...this.#others,
    ];
  }

  /** Sorted by name, so that two groups which insert the same rows do not wait for each other in a circle. */
  #stateQueries(scope: SharedScope): Query[] {
    const { layout } = this.#context;
    const changed = this.#shared[scope];
    return [...changed.keys()].sort().map((name) => {
      const { key, row, isStored } = changed.get(name)!;
      const { app, user } = key;
      const statement = this.#statements[isStored ? 'updateState' : 'insertState'][scope];
      return statement.of({ app, user, state: row.state, updated: layout.time(row.revision) });
    });
  }

  #addSession(
    { key, found, sideTableRow }: CurrentRows,
    { session }: Changes,
    replacedAt: number | undefined,
  ): void {
    if (session === undefined) return;
    const statements = this.#statements;
    const { engine, layout } = this.#context;
    const { app, user, session: id } = key;
    const { revision, created, state, lastUpdateTime, title } = session;
    const updated = layout.time(revision);
    const values = { app, user, session: id, state, updated };
    checkRow(engine, 'The state of the session', values);
    if (found.session === undefined) {
      const { labels, parent, initialState } = session;
      // The spread stands last: V8 adds members to a spread object slowly.
      const insert = { created: layout.time(created), ...values };
      const details = {
        created: insert.created,
        title: textOrNull(title),
        labels: textOrNull(labels),
        parent: textOrNull(parent),
        initial: textOrNull(initialState),
        ...key,
      };
      checkRow(engine, 'What the session begins with', details);
      this.#inserts.push(statements.insertSession.of(insert));
      // A program that enforces no foreign keys may have left rows of an earlier session.
      if (!engine.tables.enforcesKeys)
        this.#removals.push(...deletionsBeside(statements.deleteOne, key));
      this.#others.push(statements.insertNewDetails.of(details));
    } else if (state === found.session.state) {
      this.#touched.push(values);
    } else {
      this.#updated.push(values);
    }
    if (found.session !== undefined && title !== undefined) {
      // The rows that are read for a write have no title, so the statements compare it.
      const { deleteOldDetails, insertMissingDetails, setFirstTitle } = statements;
      this.#others.push(
        deleteOldDetails.of(key),
        insertMissingDetails.of(key),
        setFirstTitle.of({ ...key, title }),
      );
    }
    const time = layout.timeOf(lastUpdateTime);
    if (updated === time && replacedAt === undefined) {
      // Lists would pass over a row that no longer counts.
      const isNeeded = sideTableRow?.replacedAt !== null;
      if (!isNeeded) this.#others.push(statements.deleteOne.sideTable.of(key));
      return;
    }
    const replaced =
      replacedAt === undefined ? (sideTableRow?.replacedAt ?? null) : layout.time(replacedAt);
    const statement = statements[sideTableRow ? 'updateSideTableRow' : 'insertSideTableRow'];
    this.#others.push(statement.of({ app, user, session: id, updated, time, replaced }));
  }

  /** @returns the highest revision at which an event was replaced; `undefined` if none was */
  #addEvents(
    { key: { app, user, session }, found }: CurrentRows,
    events: readonly EventRow[],
  ): number | undefined {
    const { engine, layout } = this.#context;
    // Of several events with one id, only the last is written, in the place of the first.
    const last =
      events.length === 1 ? events : new Map(events.map((event) => [event.id, event])).values();
    const stored = new Set(found.events.map(({ id }) => id));
    let replacedAt: number | undefined;
    for (const { id, seq, revision, text } of last) {
      const isReplaced = revision !== seq;
      const { invocationId, eventData } = toEventData(text, isReplaced ? revision : undefined);
      checkEvent(engine, invocationId, text);
      const values = {
        app,
        user,
        session,
        id,
        invocation: invocationId,
        time: layout.time(seq),
        data: eventData,
      };
      checkRow(engine, `The event ${JSON.stringify(id)}`, values);
      if (stored.has(id)) this.#others.push(this.#statements.replaceEvent.of(values));
      else this.#events.push(values);
      if (isReplaced) replacedAt = Math.max(replacedAt ?? 0, revision);
    }
    return replacedAt;
  }
}

function areShort(events: readonly EventValues[]): boolean {
  return events.reduce((sum, { data }) => sum + data.length, 0) <= MAX_TEXT;
}

/** Returns what the tables have for an optional text. */
export function textOrNull(text = ''): string | null {
  return text === '' ? null : text;
}
