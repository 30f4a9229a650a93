/**
 * A complete storage adapter over Maps.
 *
 * Each verb is one transaction, because none awaits anything. Over a database, a verb begins a
 * transaction, reads, calls `decide`, writes and commits; if the database makes it retry, it calls
 * `decide` again. There, an index orders the sessions, and a counter counts them.
 */
import type {
  EventRow,
  SessionRow,
  SharedRow,
  StorageAdapter,
  StorageKey,
} from 'adk-session-wasm/storage';

const KNOWN = ['session', 'user', 'app', 'userState', 'appState'];

/** A later version of the package may ask for another scope. Ignoring it would lose data. */
function requireKnown(name: string): void {
  if (!KNOWN.includes(name)) throw new Error(`this adapter does not know '${name}'; update it`);
}

/** Quotes the ids, so that no character in an id can reach another id's data. */
const keyText = (...names: (string | undefined)[]): string => JSON.stringify(names);

/** Compares strings as JavaScript does; `localeCompare` has another order. */
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

export function mapAdapter(): StorageAdapter {
  const sessions = new Map<string, SessionRow & { events: EventRow[] }>();
  const states = new Map<string, SharedRow>();
  let floor = 0; // The highest revision that was ever deleted.

  function readCurrent({ appName, userId, sessionId }: StorageKey) {
    const session = sessions.get(keyText(appName, userId, sessionId));
    const user = states.get(keyText(appName, userId));
    return { session, user, app: states.get(keyText(appName)), events: session?.events ?? [] };
  }

  const write: StorageAdapter['append'] = ({ key, scopes, eventIds, since }, decide) => {
    for (const scope of scopes) requireKnown(scope);
    const current = readCurrent(key);
    const events = current.events.filter((event) => eventIds.includes(event.id));
    const changed = current.events.filter((event) => event.revision > since);
    const changes = decide({ ...current, events, changed, floor });
    if (changes === undefined) return;
    const { appName, userId, sessionId } = key;
    if (changes.app) states.set(keyText(appName), changes.app);
    if (changes.user) states.set(keyText(appName, userId), changes.user);
    // An event with an existing id replaces the old one: a Map keeps its position.
    const rows = new Map([...current.events, ...changes.events].map((event) => [event.id, event]));
    const session = changes.session && { ...changes.session, events: [...rows.values()] };
    if (session) sessions.set(keyText(appName, userId, sessionId), session);
  };

  const deleteRow = (rows: Map<string, { revision: number }>, name: string): void => {
    floor = Math.max(floor, rows.get(name)?.revision ?? 0);
    rows.delete(name);
  };

  return {
    durable: false,
    create: write,
    append: write,

    read({ key, window: { last = Infinity, after = 0 } }) {
      const current = readCurrent(key);
      const events = current.events.filter((event) => event.timestamp >= after);
      return { ...current, events: events.slice(Math.max(0, events.length - last)) };
    },

    list({ appName, userId, order, offset, limit = Infinity }) {
      const rows = [...sessions.values()]
        .filter((row) => row.appName === appName && row.userId === (userId ?? row.userId))
        .sort((a, b) => compare(a.sessionId, b.sessionId) || compare(a.userId, b.userId))
        .sort((a, b) => a.lastUpdateTime - b.lastUpdateTime);
      if (order === 'desc') rows.reverse();
      const page = rows.slice(offset, offset + limit);
      const users = [...new Set(page.map((row) => row.userId))].flatMap((userId) => {
        const state = states.get(keyText(appName, userId));
        return state ? [{ ...state, userId }] : [];
      });
      return { sessions: page, users, app: states.get(keyText(appName)), total: rows.length };
    },

    describe({ key: { appName, userId, sessionId }, title, labels }) {
      const name = keyText(appName, userId, sessionId);
      const session = sessions.get(name);
      if (session === undefined) return false;
      const changed = { title: title ?? session.title, labels: labels ?? session.labels };
      sessions.set(name, { ...session, ...changed });
      return true;
    },

    delete({ what, key }) {
      requireKnown(what);
      const { appName, userId, sessionId }: StorageKey = key;
      if (what === 'session') deleteRow(sessions, keyText(appName, userId, sessionId));
      else deleteRow(states, what === 'appState' ? keyText(appName) : keyText(appName, userId));
      for (const [name, row] of what === 'user' ? sessions : []) {
        if (row.appName === appName && row.userId === userId) deleteRow(sessions, name);
      }
      return { floor };
    },

    deleteUnchanged({ key: { appName, userId, sessionId }, revision, labels }) {
      const name = keyText(appName, userId, sessionId);
      const session = sessions.get(name);
      if (session?.revision !== revision) return false;
      if ((session.labels ?? '') !== (labels ?? '')) return false;
      deleteRow(sessions, name);
      return { floor };
    },
  };
}
