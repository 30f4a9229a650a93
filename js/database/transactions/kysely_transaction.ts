/** Transactions of Kysely's queries: for opening the tables, and for reads outside of the verbs. */
import { CompiledQuery, type Kysely } from 'kysely';
import type { Engine } from '../engines/engine.js';
import { commitFailure } from '../engines/failure.js';
import { Attempts, type Mode } from './transaction.js';
import type { Waits } from './waits.js';

/** Runs `work` in one transaction on a connection of its own. Retries it as {@link Attempts} says. */
export async function inKyselyTransaction<Tables, T>(
  database: Kysely<Tables>,
  engine: Engine,
  mode: Mode,
  work: (connection: Kysely<Tables>) => Promise<T>,
  waits: Waits,
): Promise<T> {
  const attempt = async (connection: Kysely<Tables>): Promise<T> => {
    let isCommitSent = false;
    try {
      for (const statement of engine.begin[mode]) await run(connection, statement);
      const result = await work(connection);
      isCommitSent = true;
      await run(connection, 'commit');
      return result;
    } catch (error) {
      // If the connection is lost there is nothing to roll back, and `error` says so.
      await run(connection, 'rollback').catch(() => undefined);
      throw mode === 'write' && isCommitSent ? commitFailure(engine, error) : error;
    }
  };
  return new Attempts(engine, waits).until(() => database.connection().execute(attempt));
}

function run<Tables>(connection: Kysely<Tables>, statement: string): Promise<unknown> {
  return connection.executeQuery(CompiledQuery.raw(statement));
}
