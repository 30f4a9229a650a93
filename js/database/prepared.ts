import type { Compilable, CompiledQuery } from 'kysely';

/** A query that was built once, to be run with other values each time. */
export interface Statement {
  readonly query: CompiledQuery;
}

/** A statement with the values of one run. */
export interface Query {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/**
 * What a verb does with the database: it gives out one query after the other, is given the rows of each,
 * and ends with its result. It knows no connection. So SQLite can run all of it in one go, and a server's
 * driver with waiting in between.
 */
export type Steps<Result> = Generator<Query, Result, readonly unknown[]>;

/** Stands in a query for a value that comes with each run. */
class Gap {
  constructor(readonly name: PropertyKey) {}
}

/**
 * A query that is built and turned into SQL at its first use, and then run with other values each time:
 * building takes longer than SQLite needs to run it.
 */
export class Prepared<Values, Row> implements Statement {
  readonly #build: () => Compilable<Row>;
  #query: CompiledQuery<Row> | undefined;

  /** @param build makes the query; `value('name')` stands for the value of that name */
  constructor(build: (value: <N extends keyof Values>(name: N) => Values[N]) => Compilable<Row>) {
    this.#build = () => build(<N extends keyof Values>(name: N) => new Gap(name) as Values[N]);
  }

  get query(): CompiledQuery<Row> {
    return (this.#query ??= this.#build().compile());
  }

  *run(given: Values): Steps<readonly Row[]> {
    const values: unknown[] = [];
    for (const parameter of this.query.parameters) {
      values.push(parameter instanceof Gap ? given[parameter.name as keyof Values] : parameter);
    }
    // That a query has the rows which its builder promised is believed here, and nowhere else.
    return (yield { statement: this, values }) as readonly Row[];
  }
}
