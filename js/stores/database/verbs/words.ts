/** The rows of the table of words: which ones are stale or found, their words, and how they are renewed. */
import { type RawBuilder, sql } from 'kysely';
import {
  CUT,
  type Looked,
  type LookedSession,
  type LookRequest,
  type WordRow,
  type WordRows,
  type WordsOwner,
} from '../../../core/word_rows.js';
import { parseLabels } from '../../../values/model/description.js';
import { parseMilliseconds } from '../../../values/python/micros.js';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared, type Steps, together } from '../engine/prepared.js';
import {
  isUser,
  JOINS_DETAILS,
  JOINS_SIDE_TABLE,
  type Key,
  keyOf,
  matchesSession,
} from '../statements/session_statements.js';
import { cached, filledChunks } from '../statements/statement_sizes.js';
import type { VerbContext } from '../statements/verb_context.js';
import { SEARCH } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';

/** The most rows that are read by one query. */
const MAX_READ = 64;

type Owner = Pick<Key, 'app' | 'user'>;

interface LookedColumns {
  id: string;
  update_time: StoredTime;
  side_time: StoredTime | null;
  last_update_time: StoredTime | null;
  title: string | null;
  labels: string | null;
  is_stale: number | string;
  is_cut: number | string;
  found: number | string;
}

interface RowValues extends Key {
  revision: StoredTime | null;
  title: string | null;
  words: string;
  remembered: number;
}

/** Makes the statements of this file. */
function wordStatements(database: Database, engine: Engine) {
  const { json, time, placeIn, hasOnConflict } = engine.queries;
  const words = sql.ref<string>('search.words');
  const isStale = sql<boolean>`(search.revision is null or search.revision <> session.update_time
    or coalesce(search.title, '') <> coalesce(details.title, ''))`;
  const isCut = sql<boolean>`substr(${words}, 1, 1) = ${sql.lit(CUT)}`;
  const bit = (condition: RawBuilder<boolean>) =>
    sql<number>`case when ${condition} then 1 else 0 end`;
  /** @param ownValue of a row that is there: what replaces the column */
  const upsert = (columns: readonly ('revision' | 'title' | 'words' | 'remembered')[]) =>
    new Prepared<RowValues, never>((value) => {
      const insert = database.insertInto(SEARCH).values({
        app_name: value('app'),
        user_id: value('user'),
        session_id: value('session'),
        revision: value('revision'),
        title: value('title'),
        remembered: value('remembered'),
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
  return {
    look: cached(
      ([needles, least, isRemembered]: readonly [number, number, boolean]) =>
        new Prepared<Owner & Record<`needle${number}`, string>, LookedColumns>((value) => {
          const places = Array.from({ length: needles }, (_, index) =>
            bit(sql`${placeIn(words, value(`needle${index}`))} > 0`),
          );
          const sum =
            places.length === 0 ? sql<number>`0` : sql<number>`(${sql.join(places, sql` + `)})`;
          const found = isRemembered
            ? sql<number>`case when search.remembered = 1 then ${sum} else 0 end`
            : sum;
          const looked = database
            .selectFrom('sessions as session')
            .leftJoin('adk_session_wasm_search as search', (join) =>
              join
                .onRef('search.app_name', '=', 'session.app_name')
                .onRef('search.user_id', '=', 'session.user_id')
                .onRef('search.session_id', '=', 'session.id'),
            )
            .leftJoin('adk_session_wasm_sessions as side', (join) => join.on(JOINS_SIDE_TABLE))
            .leftJoin('adk_session_wasm_details as details', (join) => join.on(JOINS_DETAILS))
            .select((of) => [
              'session.id',
              time(of.ref('session.update_time')).as('update_time'),
              time(of.ref('side.update_time')).as('side_time'),
              time(of.ref('side.last_update_time')).as('last_update_time'),
              'details.title',
              json(of.ref('details.labels')).as('labels'),
              bit(isStale).as('is_stale'),
              bit(isCut).as('is_cut'),
              found.as('found'),
            ])
            .where('session.app_name', '=', value('app'))
            .where('session.user_id', '=', value('user'));
          // The parameters of the needles are there once: some databases have a limit of 100.
          return database
            .selectFrom(looked.as('looked'))
            .selectAll()
            .where((is) =>
              is.or([
                is('is_stale', '=', sql.lit(1)),
                is('is_cut', '=', sql.lit(1)),
                ...(least > needles ? [] : [is('found', '>=', sql.lit(least))]),
              ]),
            );
        }),
    ),
    read: cached(
      (sessions: number) =>
        new Prepared<
          Owner & Record<`session${number}`, string>,
          { session_id: string; words: string }
        >((value) =>
          database
            .selectFrom(SEARCH)
            .select(['session_id', 'words'])
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
    renew: upsert(['revision', 'title', 'words']),
    remember: upsert(['remembered']),
  };
}

/** Runs steps in one transaction. */
export type RunSteps = <T>(
  mode: 'read' | 'write',
  steps: (context: VerbContext) => Steps<T>,
  signal?: LookRequest['signal'],
) => T | Promise<T>;

/** Returns the rows of words in a database. @param fits whether rows with the key can exist */
export function storedWords(run: RunSteps, fits: (owner: WordsOwner) => boolean): WordRows {
  return {
    look: async (request) =>
      fits(request)
        ? run('read', (context) => look(context, request), request.signal)
        : { sessions: [], isWhole: true },
    read: async ({ signal, ...request }) =>
      run('read', (context) => read(context, request), signal),
    write: async ({ rows, ...owner }) => run('write', (context) => renew(context, owner, rows)),
    remember: async (key) => run('write', (context) => remember(context, key)),
  };
}

function* look({ statements }: VerbContext, request: LookRequest): Steps<Looked> {
  const { needles, least, isRemembered } = request;
  const values: Owner & Record<`needle${number}`, string> = { ...keyOf(request) };
  for (const [index, needle] of needles.entries()) values[`needle${index}`] = needle;
  const query = statements(wordStatements).look([needles.length, least, isRemembered]).of(values);
  const [rows] = yield* together([query], true);
  const sessions = rows.map(lookedSession).filter(({ isStale, found }) => isStale || found > 0);
  return { sessions, isWhole: rows.every((row) => Number(row.is_cut) === 0) };
}

function lookedSession(row: LookedColumns): LookedSession {
  const sideTime = row.side_time === row.update_time ? row.last_update_time : undefined;
  return {
    sessionId: row.id,
    lastUpdateTime: parseMilliseconds(sideTime ?? row.update_time) ?? 0,
    title: row.title ?? undefined,
    labels: parseLabels(row.labels ?? undefined),
    version: row.update_time,
    isStale: Number(row.is_stale) === 1,
    found: Number(row.found),
  };
}

function* read(
  { statements }: VerbContext,
  request: WordsOwner & { readonly sessionIds: readonly string[] },
): Steps<Map<string, string>> {
  const queries = [...filledChunks(request.sessionIds, MAX_READ)].map((some) => {
    const values: Owner & Record<`session${number}`, string> = { ...keyOf(request) };
    for (const [index, sessionId] of some.entries()) values[`session${index}`] = sessionId;
    return statements(wordStatements).read(some.length).of(values);
  });
  const rows = (yield* together(queries, true)).flat();
  return new Map(rows.map((row) => [row.session_id, row.words]));
}

function* renew(
  { statements }: VerbContext,
  owner: WordsOwner,
  rows: readonly WordRow[],
): Steps<void> {
  const { lock, renew } = statements(wordStatements);
  const keys = rows.map(({ sessionId }) => keyOf({ ...owner, sessionId }));
  const locked = yield* together(keys.map((key) => lock.of(key)));
  const queries = rows.flatMap(({ version, title = null, words }, index) => {
    if (locked[index]?.length !== 1) return [];
    // The version is what the look has read.
    const revision = version as StoredTime;
    return renew.of({ ...keys[index]!, revision, title, words, remembered: 0 });
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
  const values = { ...own, revision: null, title: null, words: '', remembered: 1 };
  yield* together([remember.of(values)], true);
}
