/**
 * A whole storage adapter, over Maps: what the seam asks for, and no more.
 *
 * Each verb is one transaction here because none awaits anything. Over a database it would begin one,
 * read, ask `decide`, write and commit; if the database makes it start over, `decide` is asked again. And
 * it would keep sessions in their order and count them, rather than sort them in `list`.
 */
// In a program of yours: from 'adk-session-wasm'.
import type { EventRow, ScopeRow, SessionRow, StorageAdapter, StorageKey } from '../index.js';

/** The names are quoted, so that no character in one can reach another's data. */
const nameOf = (...names: (string | undefined)[]): string => JSON.stringify(names);

/** As JavaScript compares strings; `localeCompare` would be another order. */
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

export function mapAdapter(): StorageAdapter {
  const sessions = new Map<string, SessionRow & { events: EventRow[] }>();
  const states = new Map<string, ScopeRow>();
  let floor = 0; // The highest revision that was ever deleted.

  function find({ appName, userId, sessionId }: StorageKey) {
    const session = sessions.get(nameOf(appName, userId, sessionId));
    const user = states.get(nameOf(appName, userId));
    return { session, user, app: states.get(nameOf(appName)), events: session?.events ?? [] };
  }

  const write: StorageAdapter['append'] = ({ key, eventIds, since }, decide) => {
    const found = find(key);
    const events = found.events.filter((event) => eventIds.includes(event.id));
    const changed = found.events.filter((event) => event.revision > since);
    const changes = decide({ ...found, events, changed, floor });
    if (changes === undefined) return;
    const { appName, userId, sessionId } = key;
    if (changes.app) states.set(nameOf(appName), changes.app);
    if (changes.user) states.set(nameOf(appName, userId), changes.user);
    // An event whose id is there already takes its place: a Map keeps it where it was.
    const rows = new Map([...found.events, ...changes.events].map((event) => [event.id, event]));
    const session = changes.session && { ...changes.session, events: [...rows.values()] };
    if (session) sessions.set(nameOf(appName, userId, sessionId), session);
  };

  return {
    durable: false,
    create: write,
    append: write,

    read({ key, window: { last = Infinity, after = 0 } }) {
      const found = find(key);
      const events = found.events.filter((event) => event.timestamp >= after);
      return { ...found, events: events.slice(Math.max(0, events.length - last)) };
    },

    list({ appName, userId, order, offset, limit = Infinity }) {
      const rows = [...sessions.values()]
        .filter((row) => row.appName === appName && row.userId === (userId ?? row.userId))
        .sort((a, b) => compare(a.sessionId, b.sessionId) || compare(a.userId, b.userId))
        .sort((a, b) => a.lastUpdateTime - b.lastUpdateTime);
      if (order === 'desc') rows.reverse();
      const page = rows.slice(offset, offset + limit);
      const users = [...new Set(page.map((row) => row.userId))].flatMap((userId) => {
        const state = states.get(nameOf(appName, userId));
        return state ? [{ ...state, userId }] : [];
      });
      return { sessions: page, users, app: states.get(nameOf(appName)), total: rows.length };
    },

    delete({ what, key }) {
      const { appName, userId, sessionId }: StorageKey = key;
      const forget = (rows: Map<string, { revision: number }>, name: string): void => {
        floor = Math.max(floor, rows.get(name)?.revision ?? 0);
        rows.delete(name);
      };
      if (what === 'session') forget(sessions, nameOf(appName, userId, sessionId));
      else forget(states, what === 'appState' ? nameOf(appName) : nameOf(appName, userId));
      for (const [name, row] of what === 'user' ? sessions : []) {
        if (row.appName === appName && row.userId === userId) forget(sessions, name);
      }
      return { floor };
    },
  };
}
