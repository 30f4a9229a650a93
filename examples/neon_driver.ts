/**
 * Sessions in Neon over HTTP, where PostgreSQL needs no connection:
 * `new DatabaseSessionService({ driver: neonDriver(neon(url)), engine: 'postgresql' })`.
 */
import type { OptimisticDriver, SqlStatement } from 'adk-session-wasm/database';

interface TransactionOptions {
  readonly isolationLevel: 'Serializable' | 'RepeatableRead';
  readonly readOnly: boolean;
}

/** The part of `neon(url)` of `@neondatabase/serverless` that is used. `Query` is a statement that was not sent yet. */
interface NeonSql<Query> {
  query(sql: string, values: unknown[]): Query;
  transaction(queries: Query[], options: TransactionOptions): Promise<unknown[]>;
}

/** A guard has failed, a key exists, or PostgreSQL could not order two transactions. */
const CONFLICTS = ['23502', '23505', '40001', '40P01'];

export function neonDriver<Query>(sql: NeonSql<Query>): OptimisticDriver {
  const send = (statements: readonly SqlStatement[], options: TransactionOptions) =>
    sql.transaction(
      statements.map((statement) => sql.query(statement.sql, [...statement.values])),
      options,
    );
  return {
    read: async (statements) => {
      const options = { isolationLevel: 'RepeatableRead', readOnly: true } as const;
      return (await send(statements, options)) as object[][];
    },
    async commit(guards, statements) {
      try {
        const options = { isolationLevel: 'Serializable', readOnly: false } as const;
        await send([...guards, ...statements], options);
        return true;
      } catch (error) {
        if (CONFLICTS.includes(String((error as { code?: unknown }).code))) return false;
        throw error;
      }
    },
  };
}
