import { kindOf } from '../../../values/errors/describe.js';
import {
  checkedEvents,
  checkedSession,
  checkedShared,
  contractViolation,
  optionalSession,
  optionalShared,
  requireArray,
  requireCounter,
  requireObject,
  requireString,
} from '../checked_rows.js';
import type { Decide } from '../requests.js';
import { type Found, type Listing, NO_ROWS, type SessionRow, type SharedRows } from '../rows.js';
import type { Storage } from '../storage.js';

/**
 * Checks the rows that a storage of a user returns or gives to `decide`. So an error names the verb and the field that was
 * wrong, and not a later consequence.
 */
export function checkedStorage(storage: Storage): Storage {
  const verbs: Partial<Storage> = {
    create: (request, decide) => storage.create(request, checkedDecide('create', decide)),
    append: (request, decide) => storage.append(request, checkedDecide('append', decide)),
    appendMany: (writes) =>
      storage.appendMany!(
        writes.map(({ request, decide }) => ({ request, decide: checkedDecide('append', decide) })),
      ),
    async read(request) {
      const rows = statesIn('read', await storage.read(request));
      return { ...rows, events: checkedEvents('read', 'events', rows.events) };
    },
    async readPage(request) {
      const rows = sessionIn('readPage', await storage.readPage!(request));
      const { session, events, eventCount } = rows;
      if (session === undefined || events === undefined) return rows;
      if (eventCount !== undefined) requireCounter('readPage', '', 'eventCount', eventCount);
      return { session, events: checkedEvents('readPage', 'events', events), eventCount };
    },
    readEvents: async (request) => eventsIn('readEvents', await storage.readEvents!(request)),
    readMarkers: async (request) => eventsIn('readMarkers', await storage.readMarkers!(request)),
    list: async (request) =>
      checkedListing(
        await storage.list(request),
        storage.listsParts === true && request.withTotal !== false,
      ),
  };
  return new Proxy(verbs as Storage, {
    // Its members may change later, and its methods may need the private members of their class.
    get(_, name) {
      const member: unknown = Reflect.get(storage, name);
      if (typeof member !== 'function') return member;
      const verb: unknown = Reflect.get(verbs, name);
      return verb ?? (member.bind(storage) as unknown);
    },
  });
}

/** Returns a `decide` that refuses malformed rows itself, so that its write fails even if the storage hides the error. */
function checkedDecide(verb: string, decide: Decide): Decide {
  return (found) => {
    try {
      found = checkedFound(verb, found);
    } catch (error) {
      found = {
        ...NO_ROWS,
        get floor(): number {
          throw error;
        },
      };
    }
    return decide(found);
  };
}

function checkedFound(verb: string, found: Found): Found {
  if (typeof found !== 'object' || (found as unknown) === null) {
    throw contractViolation(verb, `called decide with ${kindOf(found)} in place of the rows`);
  }
  return {
    ...statesIn(verb, found),
    floor: requireCounter(verb, '', 'floor', found.floor),
    events: checkedEvents(verb, 'events', found.events),
    changed: checkedEvents(verb, 'changed', found.changed),
  };
}

interface SessionRows {
  readonly session?: SessionRow | undefined;
}

function sessionIn<Rows extends SessionRows>(verb: string, rows: Rows): Rows {
  requireObject(verb, 'a result', rows);
  return { ...rows, session: optionalSession(verb, rows) };
}

function statesIn<Rows extends SessionRows & SharedRows>(verb: string, given: Rows): Rows {
  const rows = sessionIn(verb, given);
  const user = optionalShared(verb, 'user', rows);
  return { ...rows, user, app: optionalShared(verb, 'app', rows) };
}

function eventsIn<Rows extends SessionRows & Pick<Found, 'events'>>(
  verb: string,
  given: Rows,
): Rows {
  const rows = sessionIn(verb, given);
  if (rows.session === undefined) return rows;
  return { ...rows, events: checkedEvents(verb, 'events', rows.events) };
}

function checkedListing(listing: Listing, hasTotal: boolean): Listing {
  const verb = 'list';
  requireObject(verb, 'a result', listing);
  const sessions = requireArray(verb, 'sessions', listing.sessions).map((row, index) => {
    const path = `sessions[${index}]`;
    const session = checkedSession(verb, path, row);
    requireString(verb, path, 'sessionId', session.sessionId);
    requireString(verb, path, 'userId', session.userId);
    return session;
  });
  const users = requireArray(verb, 'users', listing.users).map((row, index) => {
    const path = `users[${index}]`;
    const state = checkedShared(verb, path, row);
    return { ...state, userId: requireString(verb, path, 'userId', row.userId) };
  });
  const app = optionalShared(verb, 'app', listing);
  const total = hasTotal ? requireCounter(verb, '', 'total', listing.total) : undefined;
  return { sessions, users, app, total };
}
