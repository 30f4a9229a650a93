// The comparison: sessions in IndexedDB as a careful engineer writes them by hand, with one record per event.
//
// The code is as fast as possible: one round of requests before the writes, a key range for the events, indexes
// for the two look-ups, `commit()`, and a wait only for `complete`. One append has the package's guarantees: an
// id is stored once, and event and states together or not at all. It has no shared transactions, pages, retries,
// second tab or limits.

const DURABILITY = /** @type {const} */ ({ durability: 'relaxed' });

/** A key that sorts after all values. @type {IDBValidKey} */
const LAST = [];

/**
 * @typedef {Record<string, unknown>} Values
 * @typedef {{ id: string, timestamp: number, actions: { stateDelta: Values } }} Event
 * @typedef {{ id: string, state: Values, events: Event[] }} Handle
 * @typedef {{ appName: string, userId: string, id: string, revision: number, lastUpdateTime: number,
 *   state: string }} SessionRow
 * @typedef {{ values: string }} ScopeRow
 * @typedef {{ sessionId: string, seq: number, id: string, text: string }} EventRow
 */

/** @param {IDBOpenDBRequest} request */
function createStores({ result: database }) {
  const sessions = database.createObjectStore('sessions', { keyPath: ['appName', 'userId', 'id'] });
  sessions.createIndex('newest', ['appName', 'userId', 'lastUpdateTime']);
  database.createObjectStore('scopes');
  const events = database.createObjectStore('events', { keyPath: ['sessionId', 'seq'] });
  events.createIndex('id', ['sessionId', 'id'], { unique: true });
}

/**
 * @template Value
 * @param {IDBRequest<Value>} request
 * @returns {Promise<Value>}
 */
function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('aborted'));
  });
}

/** A delta by scope, keys without their prefix. @param {Values} delta */
function split(delta) {
  const scopes = { app: {}, user: {}, session: {} };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith('app:')) Object.assign(scopes.app, { [key.slice(4)]: value });
    else if (key.startsWith('user:')) Object.assign(scopes.user, { [key.slice(5)]: value });
    else if (!key.startsWith('temp:')) Object.assign(scopes.session, { [key]: value });
  }
  return scopes;
}

/** @param {string | undefined} text @param {Values} changes */
function changed(text, changes) {
  return JSON.stringify({ ...(text === undefined ? {} : JSON.parse(text)), ...changes });
}

/** @param {string} prefix @param {ScopeRow | undefined} row @returns {Values} */
function prefixed(prefix, row) {
  const entries = Object.entries(row === undefined ? {} : JSON.parse(row.values));
  return Object.fromEntries(entries.map(([key, value]) => [prefix + key, value]));
}

/** @param {string} state @param {ScopeRow | undefined} app @param {ScopeRow | undefined} user */
function merged(state, app, user) {
  return { ...JSON.parse(state), ...prefixed('app:', app), ...prefixed('user:', user) };
}

export class Bare {
  /** @type {IDBDatabase} */ #database;
  /** @type {string[]} */ #user;

  /** @param {IDBDatabase} database @param {{ appName: string, userId: string }} user */
  constructor(database, { appName, userId }) {
    this.#database = database;
    this.#user = [appName, userId];
  }

  /** @param {string} name @param {{ appName: string, userId: string }} user */
  static async open(name, user) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => createStores(request);
    return new Bare(await answer(request), user);
  }

  /** @param {string} name */
  static async drop(name) {
    await answer(indexedDB.deleteDatabase(name));
  }

  /** Creates several sessions, for filling. @param {string[]} ids @param {number} time @returns {Promise<Handle[]>} */
  async create(ids, time) {
    const transaction = this.#database.transaction(['sessions'], 'readwrite', DURABILITY);
    const sessions = transaction.objectStore('sessions');
    const [appName, userId] = this.#user;
    for (const [index, id] of ids.entries()) {
      const [revision, lastUpdateTime, state] = [0, time + index, '{}'];
      sessions.add({ appName, userId, id, revision, lastUpdateTime, state });
    }
    transaction.commit();
    await completed(transaction);
    return ids.map((id) => ({ id, state: {}, events: [] }));
  }

  /** @param {Handle} handle @param {Event} event @returns {Promise<void>} */
  append(handle, event) {
    const text = JSON.stringify(event);
    const { app, user, session } = split(event.actions.stateDelta);
    const transaction = this.#database.transaction(
      ['sessions', 'scopes', 'events'],
      'readwrite',
      DURABILITY,
    );
    const sessions = transaction.objectStore('sessions');
    const scopes = transaction.objectStore('scopes');
    const events = transaction.objectStore('events');
    const userKey = this.#user;
    const appKey = userKey.slice(0, 1);
    /** @type {IDBRequest<SessionRow | undefined>} */
    const row = sessions.get([...userKey, handle.id]);
    /** @type {IDBRequest<ScopeRow | undefined>} */
    const appRow = scopes.get(appKey);
    /** @type {IDBRequest<ScopeRow | undefined>} */
    const userRow = scopes.get(userKey);
    const stored = events.index('id').getKey([handle.id, event.id]);
    // Requests complete in order, so the last one completes after all others.
    stored.onsuccess = () => {
      const found = row.result;
      if (found === undefined || stored.result !== undefined) return transaction.abort();
      const seq = found.revision + 1;
      const lastUpdateTime = Math.max(found.lastUpdateTime, Math.min(event.timestamp, Date.now()));
      const state = changed(found.state, session);
      sessions.put({ ...found, revision: seq, lastUpdateTime, state });
      scopes.put({ values: changed(appRow.result?.values, app) }, appKey);
      scopes.put({ values: changed(userRow.result?.values, user) }, userKey);
      events.add({ sessionId: handle.id, seq, id: event.id, text });
      transaction.commit();
    };
    return completed(transaction).then(() => {
      handle.events.push(event);
      Object.assign(handle.state, event.actions.stateDelta);
    });
  }

  /** Appends many events in one transaction, for filling; only the last one applies its delta. @param {{ id: string }} handle @param {Event[]} batch */
  async fill(handle, batch) {
    const transaction = this.#database.transaction(['sessions', 'events'], 'readwrite', DURABILITY);
    const sessions = transaction.objectStore('sessions');
    const events = transaction.objectStore('events');
    const row = await answer(sessions.get([...this.#user, handle.id]));
    for (const [index, event] of batch.entries()) {
      const [seq, text] = [row.revision + 1 + index, JSON.stringify(event)];
      events.add({ sessionId: handle.id, seq, id: event.id, text });
    }
    sessions.put({ ...row, revision: row.revision + batch.length });
    transaction.commit();
    await completed(transaction);
  }

  /** Reads a session with all events or the last ones. @param {string} id @param {number} [recent] @returns {Promise<Handle>} */
  async load(id, recent) {
    const transaction = this.#database.transaction(['sessions', 'scopes', 'events']);
    const events = transaction.objectStore('events');
    /** @param {number} first */
    const from = (first) => events.getAll(IDBKeyRange.bound([id, first], [id, LAST]));
    const heads = this.#heads(transaction, id);
    // A read of all events does not need the session's row, so it is in the same round.
    const all = recent === undefined ? answer(from(0)) : undefined;
    const { row, app, user } = await heads;
    /** @type {EventRow[]} */
    const rows = await (all ?? answer(from(row.revision - (recent ?? 0) + 1)));
    const texts = rows.map(({ text }) => text);
    return {
      id,
      state: merged(row.state, app, user),
      events: JSON.parse(`[${texts.join(',')}]`),
    };
  }

  /** Lists the newest sessions. @param {number} count @returns {Promise<Handle[]>} */
  async newest(count) {
    const transaction = this.#database.transaction(['sessions', 'scopes']);
    const scopes = transaction.objectStore('scopes');
    const index = transaction.objectStore('sessions').index('newest');
    const ofUser = IDBKeyRange.bound(this.#user, [...this.#user, LAST]);
    const app = scopes.get(this.#user.slice(0, 1));
    const user = scopes.get(this.#user);
    const rows = await lastOf(index, ofUser, count);
    return rows.map(({ id, state }) => ({
      id,
      state: merged(state, app.result, user.result),
      events: [],
    }));
  }

  close() {
    this.#database.close();
  }

  /** @param {IDBTransaction} transaction @param {string} id */
  async #heads(transaction, id) {
    const scopes = transaction.objectStore('scopes');
    const row = transaction.objectStore('sessions').get([...this.#user, id]);
    const app = scopes.get(this.#user.slice(0, 1));
    const user = await answer(scopes.get(this.#user));
    return { row: row.result, app: app.result, user };
  }
}

/**
 * Returns rows from the end of an index's range, the last one first.
 *
 * @param {IDBIndex} index
 * @param {IDBKeyRange} range
 * @param {number} count
 * @returns {Promise<SessionRow[]>}
 */
async function lastOf(index, range, count) {
  if ('getAllRecords' in index) {
    // Browsers with `getAllRecords` also support a direction in `getAll`.
    const query = { query: range, count, direction: 'prev' };
    return answer(index.getAll(/** @type {any} */ (query)));
  }
  return new Promise((resolve, reject) => {
    const cursor = index.openKeyCursor(range, 'prev');
    let advanced = false;
    cursor.onerror = () => reject(cursor.error);
    cursor.onsuccess = () => {
      if (cursor.result !== null && !advanced && count > 1) {
        advanced = true;
        return cursor.result.advance(count - 1);
      }
      const rest =
        cursor.result === null ? range : IDBKeyRange.bound(cursor.result.key, range.upper);
      resolve(answer(index.getAll(rest)).then((rows) => rows.slice(-count).reverse()));
    };
  });
}
