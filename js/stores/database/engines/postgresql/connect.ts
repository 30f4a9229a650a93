import { loadOptional } from '../../../../core/wasm/loader/optional_package.js';
import type { Connection, ConnectOptions } from '../../engine/connection.js';
import { loadDriver } from '../../engine/driver.js';
import type { Engine } from '../../engine/engine.js';
import { serverConnection } from '../../transactions/server_runner.js';
import {
  type PgClientClass,
  type PgPool,
  type PgRowsClass,
  postgresPool,
} from './postgres_pool.js';

/** The part of `pg` that is used. */
interface Pg {
  default: { Pool: new (options: object) => PgPool; Client: PgClientClass; Query: PgRowsClass };
}

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  createHash(algorithm: 'sha256'): { update(text: string): { digest(encoding: 'hex'): string } };
}

export async function connectPostgres(
  engine: Engine,
  url: string,
  options: ConnectOptions,
): Promise<Connection> {
  const { default: pg } = await loadDriver<Pg>(engine);
  const crypto = await loadOptional<NodeCrypto>('node:crypto');
  // PostgreSQL cuts names to 63 bytes.
  const hash =
    crypto &&
    ((text: string) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 32));
  const { waits, driverOptions, onLost } = options;
  const pool = new pg.Pool({
    connectionString: url,
    pipeline: true,
    connectionTimeoutMillis: waits.timeoutMs,
    ...driverOptions,
  });
  // Set for one transaction only: a pooler refuses settings of a connection, or passes them on to other
  // clients.
  const settings: Record<string, string | number> = {
    statement_timeout: Math.ceil(waits.timeoutMs),
    idle_in_transaction_session_timeout: Math.ceil(waits.timeoutMs),
    ...(options.durability === 'relaxed' && { synchronous_commit: 'off' }),
  };
  const begins = (begin: readonly string[], names: readonly string[]): string[] => {
    const set = names.filter((name) => !Object.hasOwn(driverOptions, name));
    return [[...begin, ...set.map((name) => `set local ${name} = ${settings[name]}`)].join('; ')];
  };
  return serverConnection(postgresPool(pool, pg, hash, onLost), engine, waits, {
    write: begins(engine.begin.write, Object.keys(settings)),
    // A long read may take longer than the limit, as long as rows arrive.
    read: begins(engine.begin.read, ['idle_in_transaction_session_timeout']),
  });
}
