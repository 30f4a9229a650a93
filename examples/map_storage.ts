/** A complete storage over Maps. Each verb is one transaction, because none awaits anything. */
import type { Rows, SessionRow, SharedRow, Storage, StorageKey } from 'adk-session-wasm/storage';

/** Quotes the ids, so that no character in an id can reach another id's data. */
const nameOf = (key: StorageKey) => JSON.stringify([key.appName, key.userId, key.sessionId]);
/** A later version of the package may ask for more. Ignoring that would lose data. */
const unknown = (name: string) => new Error(`this storage does not know '${name}'; update it`);

export function mapStorage(): Storage {
  const sessions = new Map<string, SessionRow & Pick<Rows, 'events'>>();
  const states = new Map<string, SharedRow>();
  let floor = 0; // The highest revision that was ever deleted.
  const find = ({ appName, userId = '', sessionId = '' }: StorageKey) => {
    const session = sessions.get(nameOf({ appName, userId, sessionId }));
    const user = states.get(nameOf({ appName, userId }));
    return { session, user, app: states.get(nameOf({ appName })), events: session?.events ?? [] };
  };
  const write: Storage['append'] = ({ key, scopes, eventIds, since }, decide) => {
    const { events: all, ...rows } = find(key);
    for (const scope of scopes) if (!(scope in rows)) throw unknown(scope);
    const events = all.filter(({ id }) => eventIds.includes(id));
    const changed = all.filter(({ revision }) => revision > since);
    const changes = decide({ ...rows, events, changed, floor });
    const { appName, userId = '' } = key;
    if (changes?.app) states.set(nameOf({ appName }), changes.app);
    if (changes?.user) states.set(nameOf({ appName, userId }), changes.user);
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
    list({ appName, userId }) {
      const ofApp = [...sessions.values()].filter((row) => row.appName === appName);
      const rows = ofApp.filter((row) => row.userId === (userId ?? row.userId));
      const users = [...new Set(rows.map((row) => row.userId))].flatMap((userId) => {
        const { user } = find({ appName, userId });
        return user ? [{ ...user, userId }] : [];
      });
      return { sessions: rows, users, app: find({ appName }).app };
    },
    delete({ what, key }) {
      if (!['session', 'user', 'userState', 'appState'].includes(what)) throw unknown(what);
      // Without its end, the name of a user is the beginning of the names of the user's sessions.
      const name = what === 'user' ? nameOf(key).replace('null]', '') : nameOf(key);
      const gone = [...sessions, ...states].filter(([other]) => other.startsWith(name));
      floor = Math.max(floor, ...gone.map(([, row]) => row.revision));
      for (const [other] of gone) if (!sessions.delete(other)) states.delete(other);
      return { floor };
    },
  };
}
