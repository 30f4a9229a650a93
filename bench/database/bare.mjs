// The comparison: an append as a careful engineer writes it by hand, with the driver alone.
//
// It runs the package's statements in one transaction, on the same tables with the same indices. It locks the session and both
// states, if the engine has such locks. One query reads the session, its newest event, an event with the same id, and both
// states. Then it writes the event, the session and both states. It refuses a stale handle and a stored id. It serializes the
// event once, and parses only the states that the delta changes.
//
// It does not merge the writes of others, and has no Python form, checks, retries or copies. It has no cache of its last
// writes, with which the package skips reads on SQLite.

/** The key of the row that `find` begins with, because it always exists. */
const FLOOR = 'adk_session_wasm_floor';

const SESSION = 'app_name = ? and user_id = ? and id = ?';

/** @param {string} table */
const ofSession = (table) =>
  `${table}.app_name = s.app_name and ${table}.user_id = s.user_id and ${table}.session_id = s.id`;

/**
 * @typedef {{
 *   begin: readonly string[],
 *   insertNew: (into: string) => string,
 *   json: (column: string) => string,
 *   time: (column: string) => string,
 * }} Dialect the differences between the engines
 */

/** @type {Readonly<Record<'sqlite' | 'postgresql' | 'mariadb', Dialect>>} */
export const DIALECTS = {
  sqlite: {
    begin: ['begin immediate'],
    insertNew: (into) => `insert into ${into} on conflict do nothing`,
    json: (column) => column,
    time: (column) => column,
  },
  postgresql: {
    begin: ['begin isolation level read committed'],
    insertNew: (into) => `insert into ${into} on conflict do nothing`,
    json: (column) => `cast(${column} as text)`,
    time: (column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`,
  },
  mariadb: {
    begin: ['set transaction isolation level read committed', 'start transaction'],
    insertNew: (into) => `insert ignore into ${into}`,
    json: (column) => column,
    time: (column) => `cast(${column} as char)`,
  },
};

/** @param {Dialect} dialect */
export function statementsOf({ json, time }) {
  return {
    lockSession: `select 1 from sessions where ${SESSION} for update`,
    lockApp: 'select 1 from app_states where app_name = ? for update',
    lockUser: 'select 1 from user_states where app_name = ? and user_id = ? for update',
    find: `select m.value as floor, ${json('s.state')} as state,
      ${time('s.create_time')} as create_time, ${time('s.update_time')} as update_time,
      ${time('k.update_time')} as kept_time, ${time('k.last_update_time')} as last_update_time,
      ${time('k.replaced_at')} as replaced_at, e.id, e.invocation_id,
      ${json('e.event_data')} as event_data, ${time('e.timestamp')} as timestamp,
      (select ${time('max(n.timestamp)')} from events n where ${ofSession('n')}) as newest,
      (select count(*) from events n where ${ofSession('n')} and n.timestamp >= s.update_time) as later,
      ${json('a.state')} as app_state, ${time('a.update_time')} as app_time,
      ${json('u.state')} as user_state, ${time('u.update_time')} as user_time
      from adk_internal_metadata m
      left join sessions s on s.app_name = ? and s.user_id = ? and s.id = ?
      left join adk_session_wasm_sessions k on ${ofSession('k')}
      left join events e on ${ofSession('e')} and e.id = ?
      left join app_states a on a.app_name = ?
      left join user_states u on u.app_name = ? and u.user_id = ?
      where m.key = '${FLOOR}'`,
    writeSession: `update sessions set state = ?, update_time = ? where ${SESSION}`,
    writeApp: 'update app_states set state = ?, update_time = ? where app_name = ?',
    writeUser:
      'update user_states set state = ?, update_time = ? where app_name = ? and user_id = ?',
    writeEvent: 'insert into events values (?, ?, ?, ?, ?, ?, ?)',
  };
}

/** The parameters of `find`. @param {Key} key @param {string} eventId */
export function sought({ appName, userId, sessionId }, eventId) {
  return [appName, userId, sessionId, eventId, appName, appName, userId];
}

/**
 * @typedef {{ appName: string, userId: string, sessionId: string }} Key
 * @typedef {ReturnType<typeof import('../events.mjs').makeEvent>} Event
 * @typedef {Record<string, unknown>} Values
 * @typedef {{ key: Key, time: string, state: Values, events: Event[] }} Handle `time` is the
 *   session's `update_time`, which shows whether a handle is stale
 * @typedef {{ state: string, update_time: string, id: string | null, newest: string | null,
 *   app_state: string, user_state: string }} Found the used columns of the row
 */

/**
 * Returns the statements that insert the first rows if they are absent.
 *
 * @param {Dialect} dialect
 * @param {Key} key
 * @param {string} time
 */
export function firstRows({ insertNew }, { appName, userId, sessionId }, time) {
  return [
    { sql: insertNew('adk_internal_metadata values (?, ?)'), values: [FLOOR, '0'] },
    { sql: insertNew('app_states values (?, ?, ?)'), values: [appName, '{}', time] },
    { sql: insertNew('user_states values (?, ?, ?, ?)'), values: [appName, userId, '{}', time] },
    {
      sql: insertNew('sessions values (?, ?, ?, ?, ?, ?)'),
      values: [appName, userId, sessionId, '{}', time, time],
    },
  ];
}

/**
 * Computes the changes from the rows.
 *
 * @param {Handle} handle
 * @param {Event} event
 * @param {Found} found
 */
export function changesOf(handle, event, found) {
  const { update_time: last, newest } = found;
  if (last !== handle.time) throw new Error('the handle is stale');
  if (found.id !== null) throw new Error(`the event ${event.id} is already stored`);
  const { appName, userId, sessionId } = handle.key;
  const delta = split(event.actions.stateDelta);
  const latest = newest !== null && newest > last ? newest : last;
  const time = timeAfter(latest, Math.min(event.timestamp, Date.now()));
  return {
    time,
    session: [changed(found.state, delta.session), time, appName, userId, sessionId],
    app: [changed(found.app_state, delta.app), time, appName],
    user: [changed(found.user_state, delta.user), time, appName, userId],
    event: [
      ...[event.id, appName, userId, sessionId, event.invocationId],
      ...[time, JSON.stringify(event)],
    ],
  };
}

/** Updates the handle after the commit. @param {Handle} handle @param {Event} event @param {string} time */
export function shownOn(handle, event, time) {
  handle.time = time;
  handle.events.push(event);
  Object.assign(handle.state, event.actions.stateDelta);
}

/** A delta by scope, keys without their prefix. @param {Values} delta */
function split(delta) {
  /** @type {{ app: Values, user: Values, session: Values }} */
  const scopes = { app: {}, user: {}, session: {} };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith('app:')) scopes.app[key.slice(4)] = value;
    else if (key.startsWith('user:')) scopes.user[key.slice(5)] = value;
    else if (!key.startsWith('temp:')) scopes.session[key] = value;
  }
  return scopes;
}

/** @param {string} text @param {Values} delta */
function changed(text, delta) {
  return JSON.stringify(Object.assign(JSON.parse(text), delta));
}

/** The time in the tables' form, in UTC. @param {number} milliseconds @param {number} [micros] */
export function timeText(milliseconds, micros = 0) {
  const text = new Date(milliseconds).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${String(micros).padStart(3, '0')}`;
}

/** Returns the given time, or a microsecond after the last one if that is later. @param {string} last @param {number} milliseconds */
function timeAfter(last, milliseconds) {
  const text = timeText(milliseconds);
  if (text > last) return text;
  const micros = Number(last.slice(23)) + 1;
  const start = Date.parse(`${last.slice(0, 10)}T${last.slice(11, 23)}Z`);
  return timeText(start + Math.floor(micros / 1000), micros % 1000);
}
