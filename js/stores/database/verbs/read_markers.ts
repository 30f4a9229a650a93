/** Reads the markers of a session; see `Storage.readMarkers`. */
import { type RawBuilder, sql } from 'kysely';
import type { Event } from '../../../values/model/event/event.js';
import { rewindTargetOf } from '../../../values/model/event/markers.js';
import type { StorageMarkersRequest } from '../../../core/storage/requests.js';
import type { MarkerRows } from '../../../core/storage/rows.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import { isSettled, mayBeMarker } from '../tables/markers.js';
import type { EventColumns } from '../tables/rows.js';
import type { Database } from '../tables/tables.js';
import { readStatements } from './read.js';
import {
  isAlsoOfSession,
  isOfSession,
  type Key,
  keyOf,
  selectEvents,
  sessionStatements,
} from '../statements/session_statements.js';
import { cached, filledChunks, mostItems } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The most invocations and the most events that one statement looks for. */
const MOST_NAMES = 1024;

/** The most invocations that are remembered although no rewind names them: a rewind asks for two or three by turns. */
const MOST_OTHERS = 8;

type Values = Key & { event: string } & Record<`target${number}` | `first${number}`, string>;

/** Makes the statements of {@link readMarkers}. */
function markerStatements(database: Database, engine: Engine) {
  const [time, tie] = engine.queries.eventOrder;
  const select = (condition: RawBuilder<boolean>) =>
    selectEvents(database, engine, condition).select([
      // `coalesce` hides the column from SQLite's planner. Otherwise SQLite reads the whole session by the index of
      // this order, to save the sort of a few rows.
      sql<StoredTime>`coalesce(${time}, ${time})`.as('at'),
      sql<StoredTime>`${tie}`.as('tie'),
    ]);
  type ValueOf = (name: keyof Values) => string;
  const firstIds = (value: ValueOf, targets: readonly string[]) => {
    const isTarget = sql<boolean>`${isOfSession(value)} and invocation_id in (${sql.join(targets)})`;
    const place = sql<number>`row_number() over (partition by invocation_id order by ${time}, ${tie})`;
    const found = database
      .selectFrom('events')
      .where(isTarget)
      .select(['id', place.as('place')]);
    return database.selectFrom(found.as('of')).select('of.id').where('of.place', '=', 1);
  };
  return {
    /**
     * Returns the markers, an event, as many other events by their ids, and the first events of as many invocations.
     */
    markers: cached(
      ([idCount, targetCount]: readonly [idCount: number, targetCount: number]) =>
        new Prepared<Values, EventColumns>((value) => {
          const names = (name: 'target' | 'first', count: number) =>
            Array.from({ length: count }, (_, at) => value(`${name}${at}`));
          const ofSession = isAlsoOfSession(engine, value);
          const ids = sql.join([value('event'), ...names('first', idCount)]);
          let rows = select(sql<boolean>`${isOfSession(value)} and ${mayBeMarker(engine)}`);
          rows = rows.unionAll(select(sql<boolean>`id in (${ids}) and ${ofSession}`));
          if (targetCount > 0) {
            const first = firstIds(value, names('target', targetCount));
            rows = rows.unionAll(select(sql<boolean>`id in (${first}) and ${ofSession}`));
          }
          return database.selectFrom(rows.as('found')).selectAll().orderBy('at').orderBy('tie');
        }),
    ),
  };
}

/**
 * Reads the markers of a session by their index. If a rewind or the request names an invocation whose first event is not
 * {@link FirstEvents remembered}, it then scans the session's rows once.
 */
export function* readMarkers(
  { engine, firstEvents, sessionRows, statements }: VerbContext,
  { key, eventId = '', invocationId }: StorageMarkersRequest,
): Steps<MarkerRows> {
  const { merged } = statements(sessionStatements);
  const { rows, rowOf } = statements(readStatements);
  const { markers } = statements(markerStatements);
  // A statement has two lists of names, and names the session in four conditions.
  const mostNames = mostItems(engine, MOST_NAMES, 2, 16);
  const query = (ids: readonly string[], targets: readonly string[]) => {
    const values: Values = { ...keyOf(key), event: eventId };
    const count = (name: 'target' | 'first', names: readonly string[]): number => {
      const [filled = []] = filledChunks(names, mostNames);
      for (const [at, each] of filled.entries()) values[`${name}${at}`] = each;
      return filled.length;
    };
    return markers([count('first', ids), count('target', targets)]).of(values);
  };
  const kept = firstEvents.get(key);
  const keptIds = [...(kept?.ids.values() ?? [])];
  const [[row], found] = yield* together([merged.of(keyOf(key)), query(keptIds, [])]);
  if (row === undefined) return { events: [] };
  const session = sessionRows.read(key, row);
  const { created, revision } = session;
  const { replaced_at: replacedAt } = row;
  const targets = new Set(
    invocationId !== undefined && canBeStored(engine, invocationId) ? [invocationId] : [],
  );
  const events = found.map(rowOf);
  for (const { text } of events) {
    // Most texts are long, and few are those of rewinds.
    if (!text.includes('rewindBeforeInvocationId')) continue;
    const target = rewindTargetOf(parseEventText(text) ?? ({} as Event));
    if (target !== undefined && canBeStored(engine, target)) targets.add(target);
  }
  const isValid = kept?.created === created && kept.replacedAt === replacedAt;
  const invocations = new Map(found.map(({ id, invocation_id: invocation }) => [id, invocation]));
  const firstId = (target: string) => (isValid ? kept.ids.get(target) : undefined) ?? '';
  const unknown = [...targets].filter((target) => invocations.get(firstId(target)) !== target);
  if (unknown.length === 0) return { session, events: unique(events) };
  if (targets.size > mostNames) {
    return { session, events: (yield* rows.all.run(keyOf(key))).map(rowOf) };
  }
  const [all] = yield* together([query(isValid ? keptIds : [], unknown)]);
  const ids = new Map<string, string>();
  for (const columns of all) {
    const { invocation_id: invocation, id } = columns;
    const isFirst = targets.has(invocation) && !ids.has(invocation);
    if (isFirst && isSettled(rowOf(columns).seq, revision)) ids.set(invocation, id);
  }
  // What other requests have named is asked for again.
  const others = [...(isValid ? kept.ids : [])].filter(
    ([target, id]) => !targets.has(target) && invocations.get(id) === target,
  );
  const remembered = new Map([...others.slice(-MOST_OTHERS), ...ids].slice(-mostNames));
  firstEvents.put(key, { created, replacedAt, ids: remembered });
  return { session, events: unique(all.map(rowOf)) };
}

/** Returns whether a column can hold the id of an invocation. A server refuses a query with any other id. */
function canBeStored({ tables: { limitsIds } }: Engine, id: string): boolean {
  return !limitsIds || !id.includes('\0');
}

/** Removes duplicates: two parts of a statement may find the same event. */
function unique<Row extends { readonly id: string }>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
