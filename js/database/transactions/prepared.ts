import type { Compilable, CompiledQuery } from 'kysely';

/** A query that was built once, to be run with other values each time. */
export interface Statement {
  readonly query: CompiledQuery;
  /**
   * Makes a row of its columns in the order of the query, where that is quicker than to have the driver
   * make an object of many. Not every driver gives columns.
   */
  readonly fromColumns?: ((columns: never) => unknown) | undefined;
}

/** A statement with the values of one run. */
export interface Query<Row = unknown> {
  readonly statement: Statement & { readonly query: CompiledQuery<Row> };
  readonly values: readonly unknown[];
  /**
   * Whoever can give rows as they come gives them to this, and none of them in the {@link Answer}. It
   * never throws.
   */
  take?(row: Row): void;
}

/** What a verb asks for: queries that are run one after the other, on a server without waiting between. */
export interface Request {
  /** Of what is absent there are no rows. */
  readonly queries: readonly (Query | undefined)[];
  /**
   * Whether nothing more will be asked, so that the transaction can be ended in the same breath: where a
   * runner does that, what the verb does with the answer it does after the commit.
   */
  readonly isLast: boolean;
}

/** The rows of each query of a {@link Request}. */
export type Answer = readonly (readonly unknown[])[];

/**
 * What a verb does with the database: it asks, is given the rows, and ends with its result. It knows no
 * connection. So SQLite can run all of it in one go, and a server's driver with waiting in between.
 */
export type Steps<Result> = Generator<Request, Result, Answer>;

type RowsOf<Queries extends Request['queries']> = {
  [Index in keyof Queries]: NonNullable<Queries[Index]> extends Query<infer Row>
    ? readonly Row[]
    : never;
};

/** Runs queries of which none needs what another finds. */
export function* together<const Queries extends Request['queries']>(
  queries: Queries,
  isLast = false,
): Steps<RowsOf<Queries>> {
  return rowsOf(queries, yield { queries, isLast });
}

/** The rows of queries that a verb has asked for without {@link together}, which costs a generator. */
export function rowsOf<const Queries extends Request['queries']>(
  queries: Queries,
  answer: Answer,
): RowsOf<Queries> {
  // That a query has the rows which its builder promised is believed here, and nowhere else.
  return answer as RowsOf<Queries>;
}

/** Stands in a query for a value that comes with each run. */
class Gap {
  constructor(readonly name: PropertyKey) {}
}

/**
 * A query that is built and turned into SQL at its first use, and then run with other values each time:
 * building takes longer than SQLite needs to run it.
 */
export class Prepared<Values, Row> implements Statement {
  readonly fromColumns: ((columns: never) => Row) | undefined;
  readonly #build: () => Compilable<Row>;
  #query: CompiledQuery<Row> | undefined;

  /**
   * @param build makes the query; `value('name')` stands for the value of that name
   * @param fromColumns see {@link Statement.fromColumns}
   */
  constructor(
    build: (value: <N extends keyof Values>(name: N) => Values[N]) => Compilable<Row>,
    fromColumns?: (columns: never) => Row,
  ) {
    this.#build = () => build(<N extends keyof Values>(name: N) => new Gap(name) as Values[N]);
    this.fromColumns = fromColumns;
  }

  get query(): CompiledQuery<Row> {
    return (this.#query ??= this.#build().compile());
  }

  /** The query with its values, to be run. */
  of(given: Values): Query<Row> {
    const values = this.query.parameters.map((parameter) =>
      parameter instanceof Gap ? given[parameter.name as keyof Values] : parameter,
    );
    return { statement: this, values };
  }

  *run(given: Values): Steps<readonly Row[]> {
    const [rows] = yield* together([this.of(given)]);
    return rows;
  }
}
