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
import { type Found, type Listing, NO_ROWS, type PageRows, type SharedRows } from '../rows.js';
import type { Storage } from '../storage.js';

/**
 * Checks the rows that a storage of a user returns or gives to `decide`. So an error names the verb and the field that
 * was wrong, and not a later consequence.
 */
export function checkedStorage(storage: Storage): Storage {
  const verbs: Partial<Storage> = {
    create: (request, decide) => storage.create(request, checkedDecide('create', decide)),
    append: (request, decide) => storage.append(request, checkedDecide('append', decide)),
    appendMany: (writes) =>
      storage.appendMany!(
        writes.map(({ request, decide }) => ({ request, decide: checkedDecide('append', decide) })),
      ),
    read: async (request) => checkedRows('read', await storage.read(request)),
    readPage: async (request) => checkedRows('readPage', await storage.readPage!(request)),
    readEvents: async (request) => checkedRows('readEvents', await storage.readEvents!(request)),
    readMarkers: async (request) => checkedRows('readMarkers', await storage.readMarkers!(request)),
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

/**
 * Returns a `decide` that refuses malformed rows itself, so that its write fails even if the storage hides the error.
 */
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
    ...checkedRows(verb, found),
    floor: requireCounter(verb, '', 'floor', found.floor),
    changed: checkedEvents(verb, 'changed', found.changed),
  };
}

/** Checks the rows of any verb. Without a session there may be no events, and in a page at an unknown event. */
function checkedRows<Given extends PageRows & Partial<SharedRows>>(
  verb: string,
  given: Given,
): Given {
  requireObject(verb, 'a result', given);
  const { user = undefined, app = undefined, events, eventCount } = given;
  const session = optionalSession(verb, given);
  if (eventCount !== undefined) requireCounter(verb, '', 'eventCount', eventCount);
  const mayLack = verb === 'readPage' || (session === undefined && verb !== 'read');
  return {
    ...given,
    session,
    user: optionalShared(verb, 'user', { user }),
    app: optionalShared(verb, 'app', { app }),
    events: events === undefined && mayLack ? events : checkedEvents(verb, 'events', events!),
  };
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
