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
} from './session_statements.js';
import { cached, filledChunks, nextPowerOfTwo } from './statement_sizes.js';
import type { VerbContext } from './verb_context.js';

/** The most invocations of one statement. */
const MOST_TARGETS = 1024;

type Values = Key & { event: string };

/** Makes the statements of {@link readMarkers}. */
function markerStatements(database: Database, engine: Engine) {
  const [time, tie] = engine.eventOrder;
  const select = (condition: RawBuilder<boolean>) =>
    selectEvents(database, engine, condition).select([
      // Otherwise SQLite reads the whole session by the index of this order, to save the sort of a few rows.
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
    /** The same, and the first events of so many invocations. */
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
 * Reads the markers of a session by their index. For the first events that rewinds name it scans the session's rows
 * once, and only if there is a rewind.
 */
export function* readMarkers(
  { engine, revisions, statements }: VerbContext,
  { key, eventId = '' }: StorageMarkersRequest,
): Steps<MarkerRows> {
  const values = { ...keyOf(key), event: eventId };
  const { merged } = statements(sessionStatements);
  const { rows, rowOf } = statements(readStatements);
  const { markers, withTargets } = statements(markerStatements);
  const [[row], found] = yield* together([merged.of(values), markers.of(values)]);
  if (row === undefined) return { events: [] };
  const session = revisions.withRevision(sessionRow(key, row), row);
  const events = found.map(rowOf);
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

/** Whether a column may hold the id of an invocation. A server would refuse a query with another one. */
function canBeStored({ limitsIds }: Engine, id: string): boolean {
  return !limitsIds || !id.includes('\0');
}

/** The parts of a statement may find the same event. */
function unique<Row extends { readonly id: string }>(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}
