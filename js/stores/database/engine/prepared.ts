import { type Compilable, CompiledQuery, type QueryExecutorProvider } from 'kysely';
import { SessionError } from '../../../values/errors/errors.js';

/** The SQL of a query. A {@link Prepared} is run with different values, any other statement once. */
export interface Statement<Row = unknown> {
  readonly query: CompiledQuery<Row>;
}

/** A statement with the values of one run. */
export interface Query<Row = unknown> {
  readonly statement: Statement<Row>;
  readonly values: readonly unknown[];
  /**
   * Receives the rows as they arrive, if the runner can do that. The {@link QueryResults} then has no rows of this
   * query. Must not throw.
   */
  take?(this: void, row: Row): void;
  /**
   * Undoes what no rollback undoes, such as a lock that the connection holds. The runner runs it after the
   * transaction, before it gives the connection back.
   */
  readonly undo?: Query | undefined;
  /**
   * Makes the query that fails unless these rows are still the same. Servers lock the rows instead; a runner without
   * locks runs it before the first change.
   */
  guard?(this: void, rows: readonly Row[]): Query | undefined;
}

/**
 * The queries that a verb asks for at once. They run one after the other; a driver that pipelines sends them
 * without waiting in between.
 */
export interface Request {
  /** `undefined` has no rows. */
  readonly queries: readonly (Query | undefined)[];
  /**
   * Whether these are the last queries, so that the commit can be sent with them. The runner then commits
   * before the verb sees the results.
   */
  readonly isLast: boolean;
  /** Multiplies the limit of the wait for the results. */
  readonly factor?: number | undefined;
  /** Whether the rows may be of another moment than those of earlier requests. */
  readonly isIndependent?: boolean | undefined;
}

/** The rows of each query of a {@link Request}. */
export type QueryResults = readonly (readonly unknown[])[];

/**
 * The steps of a verb: it yields requests, gets the rows, and returns its result. It knows no connection. So
 * SQLite can run all steps without a pause, and a server's driver can wait between them. The error of a query ends
 * the steps.
 */
export type Steps<Result> = Generator<Request, Result, QueryResults>;

type RowsOf<Queries extends Request['queries']> = {
  [Index in keyof Queries]: NonNullable<Queries[Index]> extends Query<infer Row>
    ? readonly Row[]
    : never;
};

/** Runs queries that do not depend on each other's results. */
export function* together<const Queries extends Request['queries']>(
  queries: Queries,
  isLast = false,
  isIndependent = false,
): Steps<RowsOf<Queries>> {
  // Trusts here that a query returns the rows that its builder promised.
  return (yield { queries, isLast, isIndependent }) as RowsOf<Queries>;
}

/** Makes a query of SQL without values. Servers do not prepare it. */
export function plainQuery(text: string): Query {
  return { statement: { query: CompiledQuery.raw(text) }, values: [] };
}

const TEXT_WITH_NUL = plainQuery('select char(97, 0, 98) as text');

/** Whether a driver of SQLite reads a text with NUL back. `node:sqlite` and libSQL end it at the first NUL. */
export function* readsNul(): Steps<boolean> {
  const [rows] = yield* together([TEXT_WITH_NUL]);
  const [{ text } = { text: '' }] = rows as readonly { text: string }[];
  return text.length === 3;
}

/**
 * Returns the values of a query whose driver does not read NUL back. With NUL, the id would become another one.
 *
 * @throws SessionError `invalid_argument` if a value contains NUL
 */
export function withoutNul(values: readonly unknown[]): readonly unknown[] {
  if (!values.some((value) => typeof value === 'string' && value.includes('\0'))) return values;
  throw new SessionError(
    'invalid_argument',
    'An id holds NUL, which this driver of SQLite cannot read back; take it out, or use better-sqlite3.',
  );
}

/** Whether a statement returns rows. */
export function returnsRows(sql: string): boolean {
  return /^\s*(?:select|with|pragma|explain)\b|\breturning\b/i.test(sql);
}

/** A query that is built, but not yet compiled. */
interface BuiltQuery<Row> {
  compile: (database: QueryExecutorProvider) => CompiledQuery<Row>;
}

/** Runs a query that is built for this run alone. Servers do not prepare it. */
export function* runOnce<Row>(
  database: QueryExecutorProvider,
  built: BuiltQuery<Row>,
  options: { readonly factor?: number; readonly undo?: BuiltQuery<unknown> } = {},
): Steps<readonly Row[]> {
  const { factor, undo } = options;
  const queryOf = <Row>(built: BuiltQuery<Row>): Query<Row> => {
    const query = built.compile(database);
    return { statement: { query }, values: query.parameters };
  };
  const queries = [{ ...queryOf(built), undo: undo && queryOf(undo) }];
  // Trusts here that a query returns the rows that its builder promised.
  const [rows] = (yield { queries, isLast: false, factor }) as [readonly Row[]];
  return rows;
}

/** Makes the guard of rows that were read with these values; `undefined` if they need none. */
export type Guard<Values, Row> = (values: Values, rows: readonly Row[]) => Query | undefined;

/** Stands in a query for a value that each run supplies. */
class ValuePlaceholder {
  constructor(readonly name: PropertyKey) {}
}

/**
 * A query that is built and compiled to SQL at its first use, and then run with different values. Building a
 * query takes longer than SQLite needs to run it.
 */
export class Prepared<Values, Row> implements Statement<Row> {
  readonly #build: () => Compilable<Row>;
  readonly #guard: Guard<Values, Row> | undefined;
  #query: CompiledQuery<Row> | undefined;

  /**
   * @param build makes the query; `value('name')` stands for the value of that name
   * @param guard makes {@link Query.guard} of a query of one row
   */
  constructor(
    build: (value: <N extends keyof Values>(name: N) => Values[N]) => Compilable<Row>,
    guard?: Guard<Values, Row>,
  ) {
    this.#guard = guard;
    this.#build = () =>
      build(<N extends keyof Values>(name: N) => new ValuePlaceholder(name) as Values[N]);
  }

  get query(): CompiledQuery<Row> {
    return (this.#query ??= this.#build().compile());
  }

  /** Returns the query with its values. A query over several rows gets the values of each row. */
  of(...rows: readonly Values[]): Query<Row> {
    const { parameters } = this.query;
    const size = parameters.length / rows.length;
    const values = parameters.map((parameter, at) =>
      parameter instanceof ValuePlaceholder
        ? rows[Math.floor(at / size)]![parameter.name as keyof Values]
        : parameter,
    );
    const [first] = rows;
    const guard = this.#guard;
    if (guard === undefined || first === undefined) return { statement: this, values };
    return { statement: this, values, guard: (found) => guard(first, found) };
  }

  *run(given: Values): Steps<readonly Row[]> {
    const [rows] = yield* together([this.of(given)]);
    return rows;
  }
}
