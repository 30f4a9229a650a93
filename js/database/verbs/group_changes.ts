import type { Changes, EventRow, ScopeRow, WriteRequest } from '../../storage/adapter.js';
import { exactChunks } from './statement_sizes.js';
import type { CurrentRows } from './current_rows.js';
import { toEventData } from '../tables/event_data.js';
import { checkEvent, checkMergeable, checkStates } from '../tables/limits.js';
import { lookUp } from './lookup.js';
import type { Query } from '../transactions/prepared.js';
import { type Key, keyOf, userName } from './session_statements.js';
import type { WriteContext } from './write.js';
import type { EventValues, ManyEvents, SessionValues } from './write_statements.js';
import { millisecondsToMicros } from '../../python/micros.js';

/** The most events in one statement. Engines limit the number of a statement's parameters. */
const MAX_ROWS = 128;

/** The new state of a user or an app. */
interface ScopeChange {
  readonly app: string;
  readonly user: string;
  readonly row: ScopeRow;
  /** Whether the tables have a row for it. */
  readonly isStored: boolean;
}

/** Collects the changes of a group of writes, and makes the queries that write them. */
export class GroupChanges {
  readonly #context: WriteContext;
  readonly #isCreate: boolean;
  readonly #apps = new Map<string, ScopeChange>();
  readonly #users = new Map<string, ScopeChange>();
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
  withChanges({ key, scopes }: WriteRequest, rows: CurrentRows): CurrentRows {
    const app = scopes.includes('app') ? this.#apps.get(key.appName)?.row : undefined;
    const user = scopes.includes('user') ? this.#users.get(userName(keyOf(key)))?.row : undefined;
    if (app === undefined && user === undefined) return rows;
    const { found, sideTableRow } = rows;
    return {
      found: { ...found, app: app ?? found.app, user: user ?? found.user },
      sideTableRow,
    };
  }

  /** Adds the changes of a write. Throws before that if the tables cannot hold them. */
  add(request: WriteRequest, rows: CurrentRows, changes: Changes): void {
    const { engine, layout, now } = this.#context;
    const { found } = rows;
    checkStates(engine, changes);
    if (layout.mergesInSql) checkMergeable(found, changes);
    // Python cannot append without these rows.
    const absent = this.#isCreate
      ? { revision: millisecondsToMicros(now), state: '{}' }
      : undefined;
    const appRow = changes.app ?? (found.app ? undefined : absent);
    const userRow = changes.user ?? (found.user ? undefined : absent);
    const key = keyOf(request.key);
    const replacedAt = this.#addEvents(key, rows, changes.events);
    addScope(this.#apps, key.app, key, appRow, found.app);
    addScope(this.#users, userName(key), key, userRow, found.user);
    this.#addSession(key, rows, changes, replacedAt);
  }

  /**
   * Returns the queries. Apps and users come before the sessions, in the order of the locks. Of two creates
   * that find no row of the app, the second waits there and holds nothing that the first needs.
   */
  queries(): Query[] {
    const { statements } = this.#context;
    return [
      ...sortedByName(this.#apps).map((change) => this.#scopeQuery('App', change)),
      ...sortedByName(this.#users).map((change) => this.#scopeQuery('User', change)),
      ...this.#inserts,
      ...lookUp(statements.touchSession, this.#touched).queries,
      ...lookUp(statements.updateSession, this.#updated).queries,
      ...[...exactChunks(this.#events, MAX_ROWS)].map((some) =>
        statements.insertEvents(some.length).of(numbered(some)),
      ),
      ...this.#others,
    ];
  }

  #scopeQuery(scope: 'App' | 'User', { app, user, row, isStored }: ScopeChange): Query {
    const { layout, statements } = this.#context;
    const values = { app, user, state: row.state, updated: layout.time(row.revision) };
    return statements[`${isStored ? 'update' : 'insert'}${scope}`].of(values);
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
    const { revision, created, state, lastUpdateTime } = session;
    const updated = layout.time(revision);
    const values = { app, user, session: id, state, updated };
    if (found.session === undefined) {
      const insert = { ...values, created: layout.time(created) };
      this.#inserts.push(statements.insertSession.of(insert));
    } else if (state === found.session.state) {
      this.#touched.push(values);
    } else {
      this.#updated.push(values);
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

/** @param found the row that the write decided on: a stored one, or that of an earlier write of the group */
function addScope(
  changes: Map<string, ScopeChange>,
  name: string,
  { app, user }: Key,
  row: ScopeRow | undefined,
  found: ScopeRow | undefined,
): void {
  if (row === undefined) return;
  const isStored = changes.get(name)?.isStored ?? found !== undefined;
  changes.set(name, { app, user, row, isStored });
}

/** Sorts by name, so that two groups which insert the same rows do not wait for each other in a circle. */
function sortedByName(changes: ReadonlyMap<string, ScopeChange>): ScopeChange[] {
  const sorted = [...changes].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, change]) => change);
}

function numbered(events: readonly EventValues[]): ManyEvents {
  const values: ManyEvents = {};
  for (const [index, event] of events.entries()) {
    values[`app${index}`] = event.app;
    values[`user${index}`] = event.user;
    values[`session${index}`] = event.session;
    values[`id${index}`] = event.id;
    values[`invocation${index}`] = event.invocation;
    values[`time${index}`] = event.time;
    values[`data${index}`] = event.data;
  }
  return values;
}
