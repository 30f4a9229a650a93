import type { Connection, ConnectOptions } from '../../engine/connection.js';
import { loadDriver } from '../../engine/driver.js';
import type { Engine } from '../../engine/engine.js';
import { serverConnection } from '../../transactions/server_runner.js';
import { NO_ESCAPES } from './columns.js';
import { mysqlPool } from './mysql_pool.js';
import type { MysqlPromisePool } from './mysql_types.js';

/** The part of `mysql2` that is used. */
interface Mysql {
  default: { createPool(options: object): MysqlPool };
}

interface MysqlPool {
  on(event: 'connection', listener: (connection: MysqlCallbackConnection) => void): unknown;
  promise(): MysqlPromisePool;
}

interface MysqlCallbackConnection {
  query(query: string, done: () => void): unknown;
}

export async function connectMysql(
  engine: Engine,
  url: string,
  options: ConnectOptions,
): Promise<Connection> {
  const { default: mysql } = await loadDriver<Mysql>(engine);
  const { waits, driverOptions, onLost } = options;
  const createPool = (options: object = {}): MysqlPool =>
    mysql.createPool({
      uri: url,
      charset: 'utf8mb4',
      connectTimeout: Math.ceil(waits.timeoutMs),
      ...driverOptions,
      ...options,
    });
  const pool = createPool();
  const seconds = Math.ceil(waits.timeoutMs / 1000);
  // MySQL lacks the last setting and reads it as a comment. See `requireExactTexts` for the SQL mode.
  const settings = `set session sql_mode = replace(@@sql_mode, '${NO_ESCAPES}', ''), innodb_lock_wait_timeout = ${seconds} /*M!100300 , idle_transaction_timeout = ${seconds} */`;
  pool.on('connection', (connection) => connection.query(settings, () => undefined));
  const runs = mysqlPool(pool.promise(), (options) => createPool(options).promise(), onLost);
  return serverConnection(runs, engine, waits);
}
