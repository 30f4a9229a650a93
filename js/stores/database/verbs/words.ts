/** The rows of the table of words: which ones are stale or found, their words, and how they are renewed. */
import { type RawBuilder, sql } from 'kysely';
import {
  CUT,
  type Looked,
  type LookedSession,
  type LookRequest,
  type StoredWords,
  type WordRow,
  type WordRows,
  type WordsOwner,
} from '../../../core/word_rows.js';
import { parseLabels } from '../../../values/model/description.js';
import { parseMilliseconds } from '../../../values/python/micros.js';
import { WORDS_VERSION } from '../../../values/words.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared, runOnce, type Steps, together } from '../engine/prepared.js';
import { isUser, type Key, keyOf, matchesSession } from '../statements/session_statements.js';
import { cached, filledChunks } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';
import { DETAILS, SEARCH, SIDE_TABLE } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';

/** The most rows that are read by one query. */
const MAX_READ = 64;

/** From so many sessions on that a search looks at, the planner needs statistics. */
const MANY = 500;

/** The tables that a search reads. */
const SEARCHED = [
  'sessions',
  SIDE_TABLE,
  DETAILS,
  SEARCH,
  'events',
  'user_states',
  'app_states',
] as const;

/** Those of them whose rows an import may have multiplied since their statistics were gathered. */
const IMPORTED: readonly string[] = ['sessions', SIDE_TABLE, DETAILS];

const NO_DETAILS = { title: null, labels: null };

type Owner = Pick<Key, 'app' | 'user'>;

/** The columns of the four tables that a look joins. */
interface LookedColumns {
  sessions: { id: string; update_time: StoredTime; create_time: StoredTime };
  side: { session_id: string; update_time: StoredTime; last_update_time: StoredTime };
  details: {
    session_id: string;
    create_time: StoredTime;
    title: string | null;
    labels: string | null;
  };
  rows: {
    session_id: string;
    revision: StoredTime | null;
    title: string | null;
    version: number | string;
    since: number | string | null;
    event_count: number | string | null;
    is_cut: number | string;
    found: number | string;
  };
}

interface RowValues extends Key {
  revision: StoredTime | null;
  title: string | null;
  version: number;
  since: number | null;
  event_count: number | null;
  seen: string;
  words: string;
  remembered: number;
}

/** The columns that a renewal of a row replaces. */
const RENEWED = ['revision', 'title', 'version', 'since', 'event_count', 'seen', 'words'] as const;

/** Makes the statements of this file. */
function wordStatements(database: Database, engine: Engine) {
  const { json, time, placeIn, hasOnConflict } = engine.queries;
  const words = sql.ref<string>('words');
  const isCut = sql<boolean>`substr(${words}, 1, 1) = ${sql.lit(CUT)}`;
  const bit = (condition: RawBuilder<boolean>) =>
    sql<number>`case when ${condition} then 1 else 0 end`;
  /** @param ownValue of a row that is there: what replaces the column */
  const upsert = (columns: readonly ((typeof RENEWED)[number] | 'remembered')[]) =>
    new Prepared<RowValues, never>((value) => {
      const insert = database.insertInto(SEARCH).values({
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        revision: value('revision'),
        title: value('title'),
        remembered: value('remembered'),
        version: value('version'),
        since: value('since'),
        event_count: value('event_count'),
        seen: value('seen'),
        words: value('words'),
      });
      const newValue = (column: string) =>
        hasOnConflict
          ? sql<never>`excluded.${sql.ref(column)}`
          : sql<never>`values(${sql.ref(column)})`;
      const changes = Object.fromEntries(columns.map((column) => [column, newValue(column)]));
      return hasOnConflict
        ? insert.onConflict((conflict) =>
            conflict.columns(['app_name', 'user_id', 'session_id']).doUpdateSet(changes),
          )
        : insert.onDuplicateKeyUpdate(changes);
    });
  const sessions = new Prepared<Owner, LookedColumns['sessions']>((value) =>
    database
      .selectFrom('sessions')
      .where(isUser(value))
      .select((of) => [
        'id',
        time(of.ref('update_time')).as('update_time'),
        time(of.ref('create_time')).as('create_time'),
      ]),
  );
  const side = new Prepared<Owner, LookedColumns['side']>((value) =>
    database
      .selectFrom(SIDE_TABLE)
      .where(isUser(value))
      .select((of) => [
        'session_id',
        time(of.ref('update_time')).as('update_time'),
        time(of.ref('last_update_time')).as('last_update_time'),
      ]),
  );
  const details = new Prepared<Owner, LookedColumns['details']>((value) =>
    database
      .selectFrom(DETAILS)
      .where(isUser(value))
      .select((of) => [
        'session_id',
        time(of.ref('create_time')).as('create_time'),
        'title',
        json(of.ref('labels')).as('labels'),
      ]),
  );
  return {
    sessions,
    side,
    details,
    rows: cached(
      ([needles, isRemembered, hasAll]: readonly [number, boolean, boolean]) =>
        new Prepared<Owner & Record<`needle${number}`, string>, LookedColumns['rows']>((value) => {
          const has = Array.from(
            { length: needles },
            (_, index) => sql<boolean>`${placeIn(words, value(`needle${index}`))} > 0`,
          );
          // Where one needle is missing, the words are not searched for the next one.
          const all = sql<number>`${sql.lit(needles)} * ${bit(sql`${sql.join(has, sql` and `)}`)}`;
          const counts = hasAll ? [all] : has.map(bit);
          const sum = needles === 0 ? sql<number>`0` : sql<number>`${sql.join(counts, sql` + `)}`;
          const found = isRemembered
            ? sql<number>`case when remembered = 1 then ${sum} else 0 end`
            : sum;
          return database
            .selectFrom(SEARCH)
            .where(isUser(value))
            .select((of) => [
              'session_id',
              time(of.ref('revision')).as('revision'),
              'title',
              'version',
              'since',
              'event_count',
              bit(isCut).as('is_cut'),
              found.as('found'),
            ]);
        }),
    ),
    read: cached(
      (sessions: number) =>
        new Prepared<
          Owner & Record<`session${number}`, string>,
          { session_id: string } & StoredWords
        >((value) =>
          database
            .selectFrom(SEARCH)
            .select(['session_id', 'seen', 'words'])
            .where(isUser(value))
            .where(
              'session_id',
              'in',
              Array.from({ length: sessions }, (_, index) => value(`session${index}`)),
            ),
        ),
    ),
    /** Locks a session until the transaction ends, so that its row can refer to it. */
    lock: new Prepared<Key, { id: string }>((value) =>
      engine.transactions.lock(
        database.selectFrom('sessions').select('id').where(matchesSession(value)),
      ),
    ),
    renew: upsert(RENEWED),
    remember: upsert(['remembered']),
  };
}

/** Runs steps in one transaction. */
export type RunSteps = <T>(
  mode: 'read' | 'write',
  steps: (context: VerbContext) => Steps<T>,
  signal?: LookRequest['signal'],
) => T | Promise<T>;

/**
 * Returns the rows of words in a database.
 *
 * @param fits whether rows with the key can exist
 * @param onError called with what failed while no search fails with it
 */
export function storedWords(
  run: RunSteps,
  fits: (owner: WordsOwner) => boolean,
  onError: (error: unknown) => void,
): WordRows {
  let isFirst = true;
  return {
    look: async (request) => {
      if (!fits(request)) return { sessions: [], isWhole: true };
      const { count, ...looked } = await run(
        'read',
        (context) => look(context, request),
        request.signal,
      );
      const isPass = request.needles.length === 0;
      const isImported = isPass && looked.sessions.length >= MANY;
      if (isImported || (isFirst && count >= MANY)) {
        isFirst = false;
        const gather = async () => run('read', (context) => gatherStatistics(context, isImported));
        // An account that may not, and an engine that only resembles, do without.
        await gather().catch(onError);
      }
      return looked;
    },
    read: async ({ signal, ...request }) =>
      run('read', (context) => read(context, request), signal),
    write: async ({ rows, ...owner }) => run('write', (context) => renew(context, owner, rows)),
    remember: async (key) => run('write', (context) => remember(context, key)),
  };
}

/**
 * Reads the tables of a user one by one and joins them here. Without statistics PostgreSQL takes each table for one row,
 * and would compare each session with each row.
 */
function* look(
  { statements }: VerbContext,
  request: LookRequest,
): Steps<Looked & { readonly count: number }> {
  const { needles, least, isRemembered } = request;
  const owner = keyOf(request);
  const values: Owner & Record<`needle${number}`, string> = { ...owner };
  for (const [index, needle] of needles.entries()) values[`needle${index}`] = needle;
  const made = statements(wordStatements);
  const queries = [
    made.sessions.of(owner),
    made.side.of(owner),
    made.details.of(owner),
    made.rows([needles.length, isRemembered, least === needles.length]).of(values),
  ] as const;
  const [stored, side, details, rows] = yield* together(queries, true);
  const sideOf = bySession(side);
  const detailsOf = bySession(details);
  const rowOf = bySession(rows);
  const sessions: LookedSession[] = [];
  let isWhole = true;
  for (const { id, update_time: version, create_time } of stored) {
    const row = rowOf.get(id);
    const described = detailsOf.get(id);
    // Those of a session that had the id before stay if Python deletes it without foreign keys.
    const { title, labels } = described?.create_time === create_time ? described : NO_DETAILS;
    const isOfVersion = Number(row?.version) === WORDS_VERSION;
    const isStale =
      !isOfVersion || row?.revision !== version || (row.title ?? '') !== (title ?? '');
    if (Number(row?.is_cut) === 1) isWhole = false;
    const count = Number(row?.found ?? 0);
    const found = count >= least ? count : 0;
    if (!isStale && found === 0) continue;
    const times = sideOf.get(id);
    const updated = times?.update_time === version ? times.last_update_time : version;
    sessions.push({
      sessionId: id,
      lastUpdateTime: parseMilliseconds(updated) ?? 0,
      title: title ?? undefined,
      labels: parseLabels(labels ?? undefined),
      version,
      isStale,
      found,
      since: isOfVersion ? optionalNumber(row?.since) : undefined,
      eventCount: optionalNumber(row?.event_count),
    });
  }
  return { sessions, isWhole, count: stored.length };
}

/**
 * Has the planner learn how many rows the tables have that it knows nothing of. Without that, as after an import or a
 * restore, PostgreSQL reads all sessions of a user to find one, also for each foreign key.
 *
 * @param isImported whether it also learns that of the tables that an import fills
 */
function* gatherStatistics({ database, engine }: VerbContext, isImported: boolean): Steps<void> {
  const { statistics } = engine.indexes;
  if (statistics === undefined) return;
  const unknown = SEARCHED.map((name) => {
    const isWanted =
      isImported && IMPORTED.includes(name) ? sql`true` : statistics.isUnknown(sql.table(name));
    return sql<{ name: string }>`select ${sql.lit(name)} as name where ${isWanted}`;
  });
  const rows = yield* runOnce(
    database,
    sql<{ name: string }>`${sql.join(unknown, sql` union all `)}`,
  );
  if (rows.length === 0) return;
  const tables = sql.join(rows.map(({ name }) => sql.table(name)));
  yield* runOnce(database, statistics.gather(tables));
}

function bySession<Row extends { readonly session_id: string }>(rows: readonly Row[]) {
  const rowOf = new Map<string, Row>();
  for (const row of rows) rowOf.set(row.session_id, row);
  return rowOf;
}

function optionalNumber(value: number | string | null | undefined): number | undefined {
  return value == null ? undefined : Number(value);
}

function* read(
  { statements }: VerbContext,
  request: WordsOwner & { readonly sessionIds: readonly string[] },
): Steps<Map<string, StoredWords>> {
  const queries = [...filledChunks(request.sessionIds, MAX_READ)].map((some) => {
    const values: Owner & Record<`session${number}`, string> = { ...keyOf(request) };
    for (const [index, sessionId] of some.entries()) values[`session${index}`] = sessionId;
    return statements(wordStatements).read(some.length).of(values);
  });
  const rows = (yield* together(queries, true)).flat();
  return new Map(rows.map((row) => [row.session_id, row]));
}

function* renew(
  { statements }: VerbContext,
  owner: WordsOwner,
  rows: readonly WordRow[],
): Steps<void> {
  const { lock, renew } = statements(wordStatements);
  const keys = rows.map(({ sessionId }) => keyOf({ ...owner, sessionId }));
  const locked = yield* together(keys.map((key) => lock.of(key)));
  const queries = rows.flatMap((row, index) => {
    if (locked[index]?.length !== 1) return [];
    const { version, title = null, words, seen, revision: since = null, eventCount = null } = row;
    return renew.of({
      ...keys[index]!,
      // The version is what the look has read.
      revision: version as StoredTime,
      title,
      version: WORDS_VERSION,
      since,
      event_count: eventCount,
      seen,
      words,
      remembered: 0,
    });
  });
  yield* together(queries, true);
}

function* remember(
  { statements }: VerbContext,
  key: WordsOwner & { readonly sessionId: string },
): Steps<void> {
  const { lock, remember } = statements(wordStatements);
  const own = keyOf(key);
  const [session] = yield* lock.run(own);
  if (session === undefined) return;
  const empty = { revision: null, title: null, version: 0, since: null, event_count: null };
  const values = { ...own, ...empty, seen: '', words: '', remembered: 1 };
  yield* together([remember.of(values)], true);
}
