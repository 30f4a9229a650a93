/** Reads one row for each of several keys, in as few queries as the engine allows. */
import { type Compilable, type Expression, type QueryExecutorProvider, sql } from 'kysely';
import type { Engine } from '../engine/engine.js';
import {
  type Guard,
  Prepared,
  type QueryResults,
  type Query,
  type Steps,
} from '../engine/prepared.js';

/** Queries, and the function that reads their results. */
export interface Read<Result> {
  readonly queries: readonly Query[];
  readonly result: (results: QueryResults) => Result;
}

type ResultsOf<Reads extends readonly Read<unknown>[]> = {
  [Index in keyof Reads]: Reads[Index] extends Read<infer Result> ? Result : never;
};

/** Sends the queries of several reads together. @param isLast see {@link Request.isLast} */
export function* readTogether<const Reads extends readonly Read<unknown>[]>(
  reads: Reads,
  isLast = false,
): Steps<ResultsOf<Reads>> {
  const queries = reads.flatMap(({ queries }) => queries);
  const rows = queries.length === 0 ? [] : yield { queries, isLast };
  let start = 0;
  const results = reads.map(({ queries, result }) =>
    result(rows.slice(start, (start += queries.length))),
  );
  return results as ResultsOf<Reads>;
}

/** A statement that is run with one key, and the same for many keys. */
export interface KeyedStatement<Key, Row> {
  readonly one: Prepared<Key, Row>;
  /** Only if the engine `hasJsonRows`; see {@link jsonRows}. */
  readonly many?: Prepared<JsonRows, Row & { position: number }> | undefined;
}

/**
 * Makes a statement that finds at most one row by a key.
 *
 * For many keys it is run once for each of them, by `lateral`. Its `limit` keeps the planner from joining the
 * whole tables instead. Without it, a planner that sees small tables prefers the join, and keeps that plan when the
 * tables have grown.
 */
export function findByKey<Key extends object, Row>(
  database: QueryExecutorProvider,
  { queries: { hasJsonRows } }: Engine,
  names: readonly (keyof Key & string)[],
  build: (
    value: <Name extends keyof Key>(name: Name) => Key[Name],
  ) => Compilable<Row> & Expression<Row>,
  guard?: Guard<Key, Row>,
): KeyedStatement<Key, Row> {
  const one = new Prepared<Key, Row>(build, guard);
  if (!hasJsonRows) return { one };
  const many = new Prepared<JsonRows, Row & { position: number }>((value) => {
    // The column of a key stands where the value of a single key would.
    const column = <Name extends keyof Key>(name: Name) =>
      sql.ref(`given.${name as string}`) as unknown as Key[Name];
    const query = sql<Row & { position: number }>`select given.position, found.*
      from ${jsonRows(value('rows'), names)}
      cross join lateral (${build(column)} limit 1) as found`;
    return { compile: () => query.compile(database) };
  });
  return { one, many };
}

/** Reads the row of each key; `undefined` for a key without a row. */
export function lookUp<Key extends object, Row>(
  { one, many }: KeyedStatement<Key, Row>,
  keys: readonly Key[],
): Read<readonly (Row | undefined)[]> {
  if (many === undefined || keys.length <= 1) {
    const result = (results: QueryResults) => results.map((rows) => rows[0] as Row | undefined);
    return { queries: keys.map((key) => one.of(key)), result };
  }
  return {
    queries: [many.of(asJsonRows(keys))],
    result([rows = []]) {
      const found = new Map<number, Row>();
      for (const row of rows as readonly (Row & { position: number })[]) {
        found.set(row.position, row);
      }
      return keys.map((_, position) => found.get(position));
    },
  };
}

/** The values of a statement over {@link jsonRows}. */
export interface JsonRows {
  /** A JSON array of objects. */
  rows: string;
}

function asJsonRows(rows: readonly object[]): JsonRows {
  return { rows: JSON.stringify(rows.map((row, position) => ({ ...row, position }))) };
}

/**
 * Makes a table `given` of a JSON array, if the engine `hasJsonRows`. Each object has texts with these names and its
 * position.
 */
export function jsonRows<Name extends string>(
  rows: Expression<unknown> | string,
  names: readonly Name[],
) {
  const columns = names.map((name) => sql`${sql.ref(name)} text`);
  type Row = Record<Name, string> & { position: number };
  return sql<Row>`json_to_recordset(cast(${rows} as json))`.as<'given'>(
    sql`given(${sql.ref('position')} int, ${sql.join(columns)})`,
  );
}
