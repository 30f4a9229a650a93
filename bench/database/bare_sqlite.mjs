// The bare append on SQLite, with prepared statements and a synchronous driver.

import Sqlite from 'better-sqlite3';
import {
  changesOf,
  DIALECTS,
  firstRows,
  shownOn,
  sought,
  statementsOf,
  timeText,
} from './bare.mjs';

const dialect = DIALECTS.sqlite;

export class BareSqlite {
  #database;
  #begin;
  #commit;
  #rollback;
  #statements;

  /**
   * @param {string} path
   * @param {string} tables the SQL that creates the tables
   * @param {'full' | 'normal'} synchronous
   */
  constructor(path, tables, synchronous) {
    this.#database = new Sqlite(path);
    this.#database.pragma('foreign_keys = on');
    this.#database.pragma(`synchronous = ${synchronous}`);
    if (path !== ':memory:') this.#database.pragma('journal_mode = wal');
    this.#database.exec(tables);
    this.#begin = this.#database.prepare(dialect.begin.join(';'));
    this.#commit = this.#database.prepare('commit');
    this.#rollback = this.#database.prepare('rollback');
    const { find, writeSession, writeApp, writeUser, writeEvent } = statementsOf(dialect);
    this.#statements = {
      find: this.#database.prepare(find),
      writeSession: this.#database.prepare(writeSession),
      writeApp: this.#database.prepare(writeApp),
      writeUser: this.#database.prepare(writeUser),
      writeEvent: this.#database.prepare(writeEvent),
    };
  }

  /** @param {import('./bare.mjs').Key} key @returns {Promise<import('./bare.mjs').Handle>} */
  async create(key) {
    const time = timeText(Date.now());
    for (const { sql, values } of firstRows(dialect, key, time))
      this.#database.prepare(sql).run(values);
    return { key, time, state: {}, events: [] };
  }

  /** @param {import('./bare.mjs').Handle} handle @param {import('./bare.mjs').Event} event */
  async append(handle, event) {
    const sql = this.#statements;
    this.#begin.run();
    try {
      const found = /** @type {any} */ (sql.find.get(sought(handle.key, event.id)));
      const changes = changesOf(handle, event, found);
      sql.writeSession.run(changes.session);
      sql.writeApp.run(changes.app);
      sql.writeUser.run(changes.user);
      sql.writeEvent.run(changes.event);
      this.#commit.run();
      shownOn(handle, event, changes.time);
    } catch (error) {
      this.#rollback.run();
      throw error;
    }
  }

  async close() {
    this.#database.close();
  }
}
