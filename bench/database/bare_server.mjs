// The bare append on a server, with a connection of the pool and prepared statements.

import { createPool } from 'mysql2/promise';
import pg from 'pg';
import {
  changesOf,
  DIALECTS,
  firstRows,
  shownOn,
  sought,
  statementsOf,
  timeText,
} from './bare.mjs';

/**
 * @typedef {{
 *   query(sql: string): Promise<unknown>,
 *   prepared(sql: string, values: unknown[]): Promise<any[]>,
 *   release(): void,
 * }} Connection
 */

/** @param {string} url */
function postgres(url) {
  const pool = new pg.Pool({ connectionString: url });
  /** @type {Map<string, { name: string, text: string }>} */
  const known = new Map();
  /** A named statement, which a connection prepares only once. @param {string} sql */
  const statement = (sql) => {
    let found = known.get(sql);
    if (found === undefined) {
      let place = 0;
      const text = sql.replaceAll('?', () => `$${++place}`);
      known.set(sql, (found = { name: `bare_${known.size}`, text }));
    }
    return found;
  };
  return {
    /** @returns {Promise<Connection>} */
    async connect() {
      const client = await pool.connect();
      return {
        query: (sql) => client.query(sql),
        prepared: async (sql, values) => (await client.query({ ...statement(sql), values })).rows,
        release: () => client.release(),
      };
    },
    end: () => pool.end(),
  };
}

/** @param {string} url */
function mariadb(url) {
  const pool = createPool({ uri: url, charset: 'utf8mb4' });
  return {
    /** @returns {Promise<Connection>} */
    async connect() {
      const connection = await pool.getConnection();
      return {
        query: (sql) => connection.query(sql),
        // The driver caches prepared statements.
        prepared: async (sql, values) =>
          /** @type {any} */ (await connection.execute(sql, /** @type {any} */ (values)))[0],
        release: () => connection.release(),
      };
    },
    end: () => pool.end(),
  };
}

export class BareServer {
  #pool;
  #dialect;
  #statements;

  /** @param {'postgresql' | 'mariadb'} kind @param {string} url a database with the package's tables */
  constructor(kind, url) {
    this.#pool = kind === 'postgresql' ? postgres(url) : mariadb(url);
    this.#dialect = DIALECTS[kind];
    this.#statements = statementsOf(this.#dialect);
  }

  /** @param {import('./bare.mjs').Key} key @returns {Promise<import('./bare.mjs').Handle>} */
  async create(key) {
    const time = timeText(Date.now());
    const connection = await this.#pool.connect();
    for (const { sql, values } of firstRows(this.#dialect, key, time)) {
      await connection.prepared(sql, values);
    }
    connection.release();
    return { key, time, state: {}, events: [] };
  }

  /** @param {import('./bare.mjs').Handle} handle @param {import('./bare.mjs').Event} event */
  async append(handle, event) {
    const { appName, userId, sessionId } = handle.key;
    const sql = this.#statements;
    const connection = await this.#pool.connect();
    try {
      for (const begin of this.#dialect.begin) await connection.query(begin);
      await connection.prepared(sql.lockSession, [appName, userId, sessionId]);
      await connection.prepared(sql.lockApp, [appName]);
      await connection.prepared(sql.lockUser, [appName, userId]);
      const [found] = await connection.prepared(sql.find, sought(handle.key, event.id));
      const changes = changesOf(handle, event, found);
      await connection.prepared(sql.writeSession, changes.session);
      await connection.prepared(sql.writeApp, changes.app);
      await connection.prepared(sql.writeUser, changes.user);
      await connection.prepared(sql.writeEvent, changes.event);
      await connection.query('commit');
      shownOn(handle, event, changes.time);
    } catch (error) {
      await connection.query('rollback');
      throw error;
    } finally {
      connection.release();
    }
  }

  async close() {
    await this.#pool.end();
  }
}
