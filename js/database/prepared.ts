import type { Compilable, CompiledQuery } from 'kysely';
import type { Database } from './tables.js';

/** Stands in a query for a value that comes with each run. */
class Gap {
  constructor(readonly name: PropertyKey) {}
}

/**
 * A query that is built and turned into SQL once, and then run with other values each time: building
 * takes longer than SQLite needs to run it.
 */
export class Prepared<Values, Row> {
  readonly #query: CompiledQuery<Row>;

  /** @param build makes the query; `value('name')` stands for the value of that name */
  constructor(build: (value: <N extends keyof Values>(name: N) => Values[N]) => Compilable<Row>) {
    this.#query = build(<N extends keyof Values>(name: N) => new Gap(name) as Values[N]).compile();
  }

  async run(connection: Database, values: Values): Promise<Row[]> {
    const parameters = this.#query.parameters.map((parameter) =>
      parameter instanceof Gap ? values[parameter.name as keyof Values] : parameter,
    );
    const { rows } = await connection.executeQuery<Row>({ ...this.#query, parameters });
    return rows;
  }
}
