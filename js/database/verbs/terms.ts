/** The terms of sessions: how they are stored, and how lists find sessions by them. */
import { type AliasedExpression, type RawBuilder, sql } from 'kysely';
import { termsOf } from '../../model/terms.js';
import type { Engine, EngineKind } from '../engines/engine.js';
import type { Layout } from '../tables/layout.js';
import { COMPLETE, type Database, METADATA } from '../tables/tables.js';
import { Prepared, type Query, type Steps, together } from '../transactions/prepared.js';
import { type Key, type KeyValue } from './session_statements.js';
import { cached, exactChunks } from './statement_sizes.js';
import type { VerbContext } from './verb_context.js';

/** The most terms in one statement. */
const MAX_ROWS = 64;

/** The most terms by which one list finds sessions. The filter checks the others. */
const MAX_TERMS = 8;

/**
 * The most sessions that a list finds by terms. It sorts them for each page. If more have the rarest term, the
 * list is read in its order, since one of few sessions then fits.
 */
const MAX_MATCHING = 5000;

/** Begins no term, and compares greater than every character of one. */
const LAST = '\u{10FFFF}';

/** Returns the end of an insert that skips the rows whose key is stored already. */
function skipsStored(kind: EngineKind, column: string): RawBuilder<unknown> {
  const name = sql.ref(column);
  return {
    sqlite: sql`on conflict do nothing`,
    postgresql: sql`on conflict do nothing`,
    mysql: sql`on duplicate key update ${name} = ${name}`,
  }[kind];
}

/**
 * The condition that a row's session comes after another one in the order of their keys. Each engine begins at that
 * place of the primary key. SQLite and PostgreSQL do so for a comparison of rows, MariaDB only for single columns.
 */
function isAfter(kind: EngineKind, value: KeyValue): RawBuilder<boolean> {
  const [app, user, session] = [value('app'), value('user'), value('session')];
  const rows = sql<boolean>`(app_name, user_id, session_id) > (${app}, ${user}, ${session})`;
  return {
    sqlite: rows,
    postgresql: rows,
    mysql: sql<boolean>`(app_name > ${app} or app_name = ${app}
      and (user_id > ${user} or user_id = ${user} and session_id > ${session}))`,
  }[kind];
}

/** The ranges of the terms that a list asks for. */
export type TermRanges = Record<`from${number}` | `to${number}`, string>;

/** Makes the statements that store the terms of sessions. */
export function termStatements(database: Database, { kind }: Engine, layout: Layout) {
  return {
    insertTerms: cached(
      (terms: number) =>
        new Prepared<Key & { term: string }, never>((value) =>
          database
            .insertInto('adk_session_wasm_terms')
            .values(
              Array.from({ length: terms }, () => ({
                app_name: value('app'),
                user_id: value('user'),
                session_id: value('session'),
                term: value('term'),
              })),
            )
            .modifyEnd(skipsStored(kind, 'app_name')),
        ),
    ),
    /** Stores that all titles and labels have their terms. */
    setTermsComplete: new Prepared<object, never>(() =>
      database
        .insertInto(layout.metadata)
        .values({ key: METADATA.terms, value: COMPLETE })
        .modifyEnd(skipsStored(kind, 'key')),
    ),
    /** Selects the next sessions with a title or labels, in the order of their keys. */
    described: new Prepared<Key & { most: number }, Key>((value) =>
      database
        .selectFrom('adk_session_wasm_details')
        .select(['app_name as app', 'user_id as user', 'session_id as session'])
        .where((is) => is.or([is('title', 'is not', null), is('labels', 'is not', null)]))
        .where(isAfter(kind, value))
        .orderBy('app_name')
        .orderBy('user_id')
        .orderBy('session_id')
        .limit(value('most')),
    ),
  };
}

/** Returns the queries that add the terms of a title and labels. */
export function termInserts(
  { statements }: VerbContext,
  key: Key,
  title: string | null | undefined,
  labels?: string | null,
): Query[] {
  const { insertTerms } = statements(termStatements);
  const { app, user, session } = key;
  const rows = termsOf(title, labels).map((term) => ({ app, user, session, term }));
  return exactChunks(rows, MAX_ROWS).map((some) => insertTerms(some.length).of(...some));
}

/** Makes the statement that counts the entries of one term, up to one more than {@link MAX_MATCHING}. */
export function countTerms(database: Database, isOfUser: boolean) {
  return new Prepared<
    Record<'app' | 'user' | 'from0' | 'to0', string>,
    { entries: number | string | bigint }
  >((value) => {
    const query = database
      .selectFrom('adk_session_wasm_terms as counted')
      .select('counted.term')
      .where('counted.app_name', '=', value('app'))
      .where(isIn('counted', value('from0'), value('to0')))
      .limit(sql.lit(MAX_MATCHING + 1));
    const counted = isOfUser ? query.where('counted.user_id', '=', value('user')) : query;
    return database
      .selectFrom(counted.as('counts'))
      .select(({ fn }) => fn.countAll().as('entries'));
  });
}

/**
 * Returns the ranges of the terms by which a list finds its sessions, the rarest first. There are none if the
 * list has no terms, or if too many sessions have each of them.
 */
export function* rarestTerms(
  count: ReturnType<typeof countTerms>,
  owner: Record<'app' | 'user', string>,
  terms: readonly string[],
): Steps<{ bounds: TermRanges; ranges: number }> {
  if (terms.length === 0) return { bounds: {}, ranges: 0 };
  const ranges = terms.slice(0, MAX_TERMS).map((from) => ({ from, to: from + LAST }));
  const counts = yield* together(
    ranges.map(({ from, to }) => count.of({ ...owner, from0: from, to0: to })),
  );
  const ordered = ranges
    .map((range, index) => ({ ...range, entries: Number(counts[index]?.[0]?.entries) }))
    .filter(({ entries }) => entries <= MAX_MATCHING)
    .sort((one, other) => one.entries - other.entries);
  const bounds = Object.fromEntries<string>(
    ordered.flatMap(({ from, to }, index) => [
      [`from${index}`, from],
      [`to${index}`, to],
    ]),
  );
  return { bounds, ranges: ordered.length };
}

function isIn(table: 'counted' | 'entry' | 'other', from: string, to: string): RawBuilder<boolean> {
  const term = sql.ref(`${table}.term`);
  return sql<boolean>`${term} >= ${from} and ${term} < ${to}`;
}

/** Selects the keys of the sessions that have terms in so many ranges, each once. */
export function selectWithTerms(
  database: Database,
  value: (name: 'app' | 'user' | keyof TermRanges) => string,
  isOfUser: boolean,
  ranges: number,
): AliasedExpression<{ user_id: string; session_id: string }, 'matching'> {
  let query = database
    .selectFrom('adk_session_wasm_terms as entry')
    .select(['entry.user_id', 'entry.session_id'])
    .distinct()
    .where('entry.app_name', '=', value('app'))
    .where(isIn('entry', value('from0'), value('to0')));
  if (isOfUser) query = query.where('entry.user_id', '=', value('user'));
  for (let index = 1; index < ranges; index += 1) {
    query = query.where(sql<boolean>`exists (
      select 1 from ${sql.table('adk_session_wasm_terms')} other where other.app_name = entry.app_name
        and other.user_id = entry.user_id and other.session_id = entry.session_id and ${isIn('other', value(`from${index}`), value(`to${index}`))})`);
  }
  return query.as('matching');
}
