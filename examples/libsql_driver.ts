/**
 * Sessions in Turso, or in another libSQL behind HTTP, whose transactions would be a request for each statement:
 * `new DatabaseSessionService({ driver: libsqlDriver(client), engine: 'sqlite' })`.
 */
import type { OptimisticDriver, SqlStatement } from 'adk-session-wasm/database';

/** The part of a client of `@libsql/client` or `@libsql/client/web` that is used. */
interface Client {
  batch(
    statements: { sql: string; args: (string | number | Uint8Array | null)[] }[],
    mode: 'read' | 'write',
  ): Promise<{ rows: object[] }[]>;
}

export function libsqlDriver(client: Client): OptimisticDriver {
  const batch = async (statements: readonly SqlStatement[], mode: 'read' | 'write') => {
    const sent = statements.map(({ sql, values }) => ({ sql, args: [...values] }));
    return (await client.batch(sent, mode)).map(({ rows }) => rows);
  };
  return {
    read: (statements) => batch(statements, 'read'),
    async commit(guards, statements) {
      try {
        await batch([...guards, ...statements], 'write');
        return true;
      } catch (error) {
        // Others have changed what was read, or have inserted the same row: read and decide again.
        if (/(?:NOT NULL|UNIQUE) constraint failed/.test(String(error))) return false;
        throw error;
      }
    },
  };
}
