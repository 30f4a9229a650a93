// The comparison for concurrent appends of many sessions: hand-written code on the same tables.
//
// It locks the session, and the app if the event changes app keys. It reads both rows and the event by its id. Then it writes
// the event and the states. It refuses a stale handle and a stored id. It has no merging, checks, retries or copies.

import Sqlite from 'better-sqlite3';
import { setImmediate } from 'node:timers';
import pg from 'pg';
import { timeText } from './bare.mjs';

/** @typedef {{ id: string, invocationId: string, timestamp: number, actions: { stateDelta: Record<string, unknown> } }} Event */
/** @typedef {{ appName: string, userId: string, sessionId: string }} Key */
/** @typedef {{ key: Key, time: string }} Handle `time` is the session's `update_time` */

const SESSION = 'app_name = ? and user_id = ? and id = ?';

/** @param {(column: string) => string} json @param {(column: string) => string} time */
function statementsOf(json, time) {
  return {
    lockSession: `select 1 from sessions where ${SESSION} for update`,
    lockApp: 'select 1 from app_states where app_name = ? for update',
    find: `select ${json('s.state')} as state, ${time('s.update_time')} as update_time,
      ${json('a.state')} as app_state, e.id from sessions s
      left join app_states a on a.app_name = s.app_name
      left join events e on e.app_name = s.app_name and e.user_id = s.user_id
        and e.session_id = s.id and e.id = ?
      where s.app_name = ? and s.user_id = ? and s.id = ?`,
    writeSession: `update sessions set state = ?, update_time = ? where ${SESSION}`,
    writeApp: 'update app_states set state = ?, update_time = ? where app_name = ?',
    writeEvent: 'insert into events values (?, ?, ?, ?, ?, ?, ?)',
  };
}

/** Whether the event changes app keys. @param {Event} event */
const isOfApp = (event) =>
  Object.keys(event.actions.stateDelta).some((key) => key.startsWith('app:'));

/**
 * Returns the values of the written rows.
 *
 * @param {Handle} handle
 * @param {Event} event
 * @param {{ state: string, update_time: string, app_state: string, id: string | null }} found
 */
function valuesOf({ key, time: known }, event, found) {
  if (found.update_time !== known) throw new Error('the handle is stale');
  if (found.id !== null) throw new Error(`the event ${event.id} is already stored`);
  const { appName, userId, sessionId } = key;
  const state = JSON.parse(found.state);
  const appState = isOfApp(event) ? JSON.parse(found.app_state) : undefined;
  for (const [name, value] of Object.entries(event.actions.stateDelta)) {
    if (name.startsWith('app:')) appState[name.slice(4)] = value;
    else state[name] = value;
  }
  const time = laterThan(known);
  return {
    time,
    session: [JSON.stringify(state), time, appName, userId, sessionId],
    app: appState && [JSON.stringify(appState), time, appName],
    event: [
      ...[event.id, appName, userId, sessionId, event.invocationId],
      ...[time, JSON.stringify(event)],
    ],
  };
}

/** Now, or a millisecond after `time` if that is later. @param {string} time */
function laterThan(time) {
  const now = timeText(Date.now());
  return now > time ? now : timeText(Date.parse(`${time.slice(0, 23)}Z`) + 1);
}

/** An ideal group commit: all appends of one turn of the event loop share a transaction. */
export class GroupedSqlite {
  #database;
  #begin;
  #commit;
  #statements;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {string} path a database with the package's tables */
  constructor(path) {
    this.#database = new Sqlite(path);
    this.#database.pragma('foreign_keys = on');
    this.#database.pragma('synchronous = full');
    this.#database.pragma('journal_mode = wal');
    this.#begin = this.#database.prepare('begin immediate');
    this.#commit = this.#database.prepare('commit');
    const { find, writeSession, writeApp, writeEvent } = statementsOf(same, same);
    this.#statements = {
      find: this.#database.prepare(find),
      writeSession: this.#database.prepare(writeSession),
      writeApp: this.#database.prepare(writeApp),
      writeEvent: this.#database.prepare(writeEvent),
    };
  }

  /** @param {Handle} handle @param {Event} event @returns {Promise<void>} */
  append(handle, event) {
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#run());
      this.#waiting.push(() => {
        this.#write(handle, event);
        this.#settled.push(resolve);
      });
    });
  }

  /** @type {(() => void)[]} */
  #settled = [];

  #run() {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#begin.run();
    for (const write of waiting) write();
    this.#commit.run();
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }

  /** @param {Handle} handle @param {Event} event */
  #write(handle, event) {
    const { appName, userId, sessionId } = handle.key;
    const found = /** @type {any} */ (
      this.#statements.find.get(event.id, appName, userId, sessionId)
    );
    const values = valuesOf(handle, event, found);
    this.#statements.writeSession.run(values.session);
    if (values.app) this.#statements.writeApp.run(values.app);
    this.#statements.writeEvent.run(values.event);
    handle.time = values.time;
  }

  async close() {
    this.#database.close();
  }
}

/** @param {string} column */
const same = (column) => column;

/** One transaction per append. It pipelines all statements that do not depend on a result. */
export class PipelinedPostgres {
  #pool;
  /** @type {Record<string, { name: string, text: string }>} */
  #statements = {};

  /** @param {string} url a database with the package's tables */
  constructor(url) {
    this.#pool = new pg.Pool(/** @type {any} */ ({ connectionString: url, pipeline: true }));
    const json = (/** @type {string} */ column) => `cast(${column} as text)`;
    const time = (/** @type {string} */ column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`;
    for (const [name, sql] of Object.entries(statementsOf(json, time))) {
      let place = 0;
      const text = sql.replaceAll('?', () => `$${++place}`);
      this.#statements[name] = { name: `bare_${name}`, text };
    }
  }

  /** @param {Handle} handle @param {Event} event */
  async append(handle, event) {
    const { appName, userId, sessionId } = handle.key;
    const key = [appName, userId, sessionId];
    const client = await this.#pool.connect();
    const query = (/** @type {string} */ name, /** @type {unknown[]} */ values) =>
      client.query(/** @type {any} */ ({ ...this.#statements[name], values }));
    try {
      const beginQuery = client.query('begin isolation level read committed');
      const locked = query('lockSession', key);
      const lockedApp = isOfApp(event) ? query('lockApp', [appName]) : undefined;
      const found = await query('find', [event.id, ...key]);
      await Promise.all([beginQuery, locked, lockedApp]);
      const values = valuesOf(handle, event, found.rows[0]);
      await Promise.all([
        query('writeSession', values.session),
        values.app && query('writeApp', values.app),
        query('writeEvent', values.event),
        client.query('commit'),
      ]);
      handle.time = values.time;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  }

  async close() {
    await this.#pool.end();
  }
}
