/** A complete storage over Maps. Each verb is one transaction, because none awaits anything. */
import type { Rows, SessionRow, SharedRow, Storage, StorageKey } from 'adk-session-wasm/storage';

/** Quotes the ids, so that no character in an id can reach another id's data. */
const nameOf = ({ appName, userId, sessionId }: StorageKey): string =>
  JSON.stringify([appName, userId, sessionId]);
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);
/** A later version of the package may ask for more. Ignoring that would lose data. */
function requireKnown(name: string, known: object): void {
  if (!(name in known)) throw new Error(`this storage does not know '${name}'; update it`);
}

export function mapStorage(): Storage {
  const sessions = new Map<string, SessionRow & Pick<Rows, 'events'>>();
  const states = new Map<string, SharedRow & StorageKey>();
  let floor = 0; // The highest revision that was ever deleted.
  const find = ({ appName, userId = '', sessionId = '' }: StorageKey) => {
    const session = sessions.get(nameOf({ appName, userId, sessionId }));
    const user = states.get(nameOf({ appName, userId }));
    return { session, user, app: states.get(nameOf({ appName })), events: session?.events ?? [] };
  };
  const write: Storage['append'] = ({ key, scopes, eventIds, since }, decide) => {
    const { events: all, ...rows } = find(key);
    for (const scope of scopes) requireKnown(scope, rows);
    const events = all.filter(({ id }) => eventIds.includes(id));
    const changed = all.filter(({ revision }) => revision > since);
    const changes = decide({ ...rows, events, changed, floor });
    const { appName, userId = '' } = key;
    if (changes?.app) states.set(nameOf({ appName }), { ...changes.app, appName });
    if (changes?.user)
      states.set(nameOf({ appName, userId }), { ...changes.user, appName, userId });
    if (!changes?.session) return;
    // An event with an existing id replaces the old one: a Map keeps its position.
    const byId = new Map([...all, ...changes.events].map((event) => [event.id, event]));
    sessions.set(nameOf(key), { ...changes.session, events: [...byId.values()] });
  };
  return {
    durable: false,
    create: write,
    append: write,
    read({ key, window: { last = Infinity, after = 0, since = 0 } }) {
      const { events, ...rows } = find(key);
      const passed = events.filter((row) => row.timestamp >= after && row.revision > since);
      return { ...rows, events: passed.slice(Math.max(0, passed.length - last)) };
    },
    list({ appName, userId, order, offset, limit = Infinity }) {
      const rows = [...sessions.values()]
        .filter((row) => row.appName === appName && row.userId === (userId ?? row.userId))
        .sort((a, b) => compare(a.sessionId, b.sessionId) || compare(a.userId, b.userId))
        .sort((a, b) => a.lastUpdateTime - b.lastUpdateTime);
      const page = (order === 'asc' ? rows : rows.reverse()).slice(offset, offset + limit);
      const users = [...new Set(page.map((row) => row.userId))].flatMap((userId) => {
        const { user } = find({ appName, userId });
        return user ? [{ ...user, userId }] : [];
      });
      return { sessions: page, users, app: find({ appName }).app, total: rows.length };
    },
    delete({ what, key }) {
      requireKnown(what, { session: 0, user: 0, userState: 0, appState: 0 });
      const { appName, userId, sessionId }: StorageKey = key;
      for (const rows of [sessions, states]) {
        for (const [name, row] of rows) {
          const isOwn = row.appName === appName && row.userId === userId;
          if (!isOwn || (what !== 'user' && row.sessionId !== sessionId)) continue;
          floor = Math.max(floor, row.revision);
          rows.delete(name);
        }
      }
      return { floor };
    },
  };
}
