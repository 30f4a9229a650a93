import { SHARED_SCOPES, type SharedScope } from '../../state/scope.js';
import type { StorageWriteRequest } from '../../storage/adapter.js';
import type { Changes, EventRow, SharedRow } from '../../storage/rows.js';
import { exactChunks } from './statement_sizes.js';
import type { CurrentRows } from './current_rows.js';
import { toEventData } from '../tables/event_data.js';
import { checkEvent, checkMergeable, checkStates } from '../tables/limits.js';
import { lookUp } from './lookup.js';
import type { Query } from '../transactions/prepared.js';
import { type Key, keyOf, ownerName } from './session_statements.js';
import type { WriteContext } from './write.js';
import type { EventValues, SessionValues } from './write_statements.js';
import { millisecondsToMicros } from '../../python/micros.js';

/** The most events in one statement. Engines limit the number of a statement's parameters. */
const MAX_ROWS = 128;

/** The new state of a user or an app. */
interface SharedChange {
  readonly app: string;
  readonly user: string;
  readonly row: SharedRow;
  /** Whether the tables have a row for it. */
  readonly isStored: boolean;
}

/** Collects the changes of a group of writes, and makes the queries that write them. */
export class GroupChanges {
  readonly #context: WriteContext;
  readonly #isCreate: boolean;
  /** By the owner's name. */
  readonly #shared: Readonly<Record<SharedScope, Map<string, SharedChange>>> = {
    app: new Map(),
    user: new Map(),
  };
  /** Sessions whose state stays the same. */
  readonly #touched: SessionValues[] = [];
  readonly #updated: SessionValues[] = [];
  readonly #events: EventValues[] = [];
  /** Queries for one row each. */
  readonly #inserts: Query[] = [];
  readonly #others: Query[] = [];

  constructor(context: WriteContext, isCreate: boolean) {
    this.#context = context;
    this.#isCreate = isCreate;
  }

  /** Returns the rows of a write, with the states of user and app as earlier writes changed them. */
  withChanges({ key, scopes }: StorageWriteRequest, rows: CurrentRows): CurrentRows {
    const owner = keyOf(key);
    let { found } = rows;
    for (const scope of SHARED_SCOPES) {
      if (!scopes.includes(scope)) continue;
      const change = this.#shared[scope].get(ownerName[scope](owner));
      if (change !== undefined) found = { ...found, [scope]: change.row };
    }
    return { found, sideTableRow: rows.sideTableRow };
  }

  /** Adds the changes of a write. Throws before that if the tables cannot hold them. */
  add(request: StorageWriteRequest, rows: CurrentRows, changes: Changes): void {
    const { engine, layout, now } = this.#context;
    const { found } = rows;
    checkStates(engine, changes);
    if (layout.mergesInSql) checkMergeable(found, changes);
    // Python cannot append without these rows.
    const absent = this.#isCreate
      ? { revision: millisecondsToMicros(now), state: '{}' }
      : undefined;
    const key = keyOf(request.key);
    const replacedAt = this.#addEvents(key, rows, changes.events);
    for (const scope of SHARED_SCOPES) {
      const row = changes[scope] ?? (found[scope] ? undefined : absent);
      if (row === undefined) continue;
      const changed = this.#shared[scope];
      const name = ownerName[scope](key);
      const isStored = changed.get(name)?.isStored ?? found[scope] !== undefined;
      changed.set(name, { app: key.app, user: key.user, row, isStored });
    }
    this.#addSession(key, rows, changes, replacedAt);
  }

  /**
   * Returns the queries. Apps and users come before the sessions, in the order of the locks. Of two creates
   * that find no row of the app, the second waits there and holds nothing that the first needs.
   */
  queries(): Query[] {
    const { statements } = this.#context;
    return [
      ...SHARED_SCOPES.flatMap((scope) => this.#stateQueries(scope)),
      ...this.#inserts,
      ...lookUp(statements.touchSession, this.#touched).queries,
      ...lookUp(statements.updateSession, this.#updated).queries,
      ...exactChunks(this.#events, MAX_ROWS).map((some) =>
        statements.insertEvents(some.length).of(...some),
      ),
      ...this.#others,
    ];
  }

  #stateQueries(scope: SharedScope): Query[] {
    const { layout, statements } = this.#context;
    return sortedByName(this.#shared[scope]).map(({ app, user, row, isStored }) => {
      const statement = statements[isStored ? 'updateState' : 'insertState'][scope];
      return statement.of({ app, user, state: row.state, updated: layout.time(row.revision) });
    });
  }

  #addSession(
    key: Key,
    { found, sideTableRow }: CurrentRows,
    { session }: Changes,
    replacedAt: number | undefined,
  ): void {
    if (session === undefined) return;
    const { layout, statements } = this.#context;
    const { app, user, session: id } = key;
    const { revision, created, state, lastUpdateTime, title } = session;
    const updated = layout.time(revision);
    const values = { app, user, session: id, state, updated };
    if (found.session === undefined) {
      const insert = { ...values, created: layout.time(created) };
      this.#inserts.push(statements.insertSession.of(insert));
      const { labels, initialState } = session;
      const { deleteDetails, insertNewDetails } = statements;
      const details = { ...key, created: insert.created, title: textOrNull(title) };
      const others = { labels: textOrNull(labels), initial: textOrNull(initialState) };
      this.#others.push(deleteDetails.of(key), insertNewDetails.of({ ...details, ...others }));
    } else if (state === found.session.state) {
      this.#touched.push(values);
    } else {
      this.#updated.push(values);
    }
    if (found.session !== undefined && title !== undefined) {
      // The rows that are read for a write have no title, so this one is for a session without one.
      const { deleteOldDetails, insertMissingDetails, setFirstTitle } = statements;
      this.#others.push(deleteOldDetails.of(key), insertMissingDetails.of(key));
      this.#others.push(setFirstTitle.of({ ...key, title }));
    }
    const time = layout.timeOf(lastUpdateTime);
    if (updated === time && replacedAt === undefined) return;
    const replaced =
      replacedAt === undefined ? (sideTableRow?.replacedAt ?? null) : layout.time(replacedAt);
    const statement = statements[sideTableRow ? 'updateSideTableRow' : 'insertSideTableRow'];
    this.#others.push(statement.of({ app, user, session: id, updated, time, replaced }));
  }

  /** @returns the highest revision at which an event was replaced; `undefined` if none was */
  #addEvents(
    { app, user, session }: Key,
    { found }: CurrentRows,
    events: readonly EventRow[],
  ): number | undefined {
    const { engine, layout, statements } = this.#context;
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
      if (stored.has(id)) this.#others.push(statements.replaceEvent.of(values));
      else this.#events.push(values);
      if (isReplaced) replacedAt = Math.max(replacedAt ?? 0, revision);
    }
    return replacedAt;
  }
}

/** Returns what the tables have for an optional text. */
function textOrNull(text = ''): string | null {
  return text === '' ? null : text;
}

/** Sorts by name, so that two groups which insert the same rows do not wait for each other in a circle. */
function sortedByName(changes: ReadonlyMap<string, SharedChange>): SharedChange[] {
  const sorted = [...changes].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, change]) => change);
}
