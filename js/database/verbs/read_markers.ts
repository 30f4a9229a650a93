/** Reads the markers of a session; see `Storage.readMarkers`. */
import { type RawBuilder, sql } from 'kysely';
import type { Event } from '../../model/event/event.js';
import { rewindTargetOf } from '../../history/marks.js';
import type { StorageMarkersRequest } from '../../storage/requests.js';
import type { MarkerRows } from '../../storage/rows.js';
import { parseEventText } from '../../storage/stored_events.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import { mayBeMarker } from '../tables/markers.js';
import { type EventColumns, sessionRow } from '../tables/rows.js';
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
import { cached, filledChunks, nextPowerOfTwo } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';

/** The largest number of invocations that one statement looks for. */
const MOST_TARGETS = 1024;

type Values = Key & { event: string };

/** Makes the statements of {@link readMarkers}. */
function markerStatements(database: Database, engine: Engine) {
  const [time, tie] = engine.eventOrder;
  const select = (condition: RawBuilder<boolean>) =>
    selectEvents(database, engine, condition).select([
      // `coalesce` hides the column from SQLite's planner. Otherwise SQLite reads the whole session by the index of
      // this order, to save the sort of a few rows.
      sql<StoredTime>`coalesce(${time}, ${time})`.as('at'),
      sql<StoredTime>`${tie}`.as('tie'),
    ]);
  type Value = (name: keyof Values) => string;
  const markers = (value: Value) => {
    const isMarker = sql<boolean>`${isOfSession(value)} and ${mayBeMarker(engine)}`;
    const isEvent = sql<boolean>`id = ${value('event')} and ${isAlsoOfSession(engine, value)}`;
    return select(isMarker).unionAll(select(isEvent));
  };
  const inOrder = (rows: ReturnType<typeof markers>) =>
    database.selectFrom(rows.as('found')).selectAll().orderBy('at').orderBy('tie');
  return {
    markers: new Prepared<Values, EventColumns>((value) => inOrder(markers(value))),
    /** Returns the markers, and the first events of this number of invocations. */
    withTargets: cached(
      (targets: number) =>
        new Prepared<Values & Record<`target${number}`, string>, EventColumns>((value) => {
          const names = Array.from({ length: targets }, (_, at) => value(`target${at}`));
          const isTarget = sql<boolean>`${isOfSession(value)} and invocation_id in (${sql.join(names)})`;
          const first = database
            .selectFrom('events')
            .where(isTarget)
            .select('id')
            .select(
              sql<number>`row_number() over (partition by invocation_id order by ${time}, ${tie})`.as(
                'place',
              ),
            );
          const ids = database.selectFrom(first.as('of')).select('of.id').where('of.place', '=', 1);
          const isFirst = sql<boolean>`id in (${ids}) and ${isAlsoOfSession(engine, value)}`;
          return inOrder(markers(value).unionAll(select(isFirst)));
        }),
    ),
  };
}

/**
 * Reads the markers of a session by their index. If there is a rewind, it then scans the session's rows once, for the
 * first events of the invocations that rewinds name.
 */
export function* readMarkers(
  { engine, revisions, statements }: VerbContext,
  { key, eventId = '' }: StorageMarkersRequest,
): Steps<MarkerRows> {
  const values = { ...keyOf(key), event: eventId };
  const { merged } = statements(sessionStatements);
  const { rows, rowOf } = statements(readStatements);
  const { markers, withTargets } = statements(markerStatements);
  const [[row], markerRows] = yield* together([merged.of(values), markers.of(values)]);
  if (row === undefined) return { events: [] };
  const session = revisions.withRevision(sessionRow(key, row), row);
  const events = markerRows.map(rowOf);
  const targets = new Set<string>();
  for (const { text } of events) {
    const target = rewindTargetOf(parseEventText(text) ?? ({} as Event));
    if (target !== undefined && canBeStored(engine, target)) targets.add(target);
  }
  if (targets.size === 0) return { session, events: unique(events) };
  if (targets.size > MOST_TARGETS) {
    return { session, events: (yield* rows.all.run(values)).map(rowOf) };
  }
  const [names = []] = filledChunks([...targets], MOST_TARGETS);
  const named: Values & Record<`target${number}`, string> = { ...values };
  for (const [at, name] of names.entries()) named[`target${at}`] = name;
  const all = yield* withTargets(nextPowerOfTwo(names.length)).run(named);
  return { session, events: unique(all.map(rowOf)) };
}

/** Returns whether a column can hold the id of an invocation. A server refuses a query with any other id. */
function canBeStored({ limitsIds }: Engine, id: string): boolean {
  return !limitsIds || !id.includes('\0');
}

/** Removes duplicates: two parts of a statement may find the same event. */
function unique<Row extends { readonly id: string }>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
