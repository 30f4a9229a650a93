// Storages that break a rule.

import { wholeStorage } from '../service/whole_storage.js';
import type { Changes, Found, Storage } from '../../../js/core/storage/index.js';
import { sortList } from '../../../js/core/storage/list_place.js';

/** Writes states as they are printed after parsing. */
function reparsing(): Storage {
  const storage = wholeStorage();
  const reparsed = <Row extends { state: string }>(row: Row | undefined) =>
    row && { ...row, state: JSON.stringify(JSON.parse(row.state)) };
  const write: Storage['append'] = (request, decide) =>
    storage.append(request, (found) => {
      const changes = decide(found);
      if (changes === undefined) return undefined;
      const { session, user, app } = changes;
      return { ...changes, session: reparsed(session), user: reparsed(user), app: reparsed(app) };
    });
  return { ...storage, create: write, append: write };
}

/** Shows `decide` other rows than the stored ones. */
function showing(change: (found: Found) => Partial<Found>, storage = wholeStorage()): Storage {
  const write: Storage['append'] = (request, decide) =>
    storage.append(request, (found) => decide({ ...found, ...change(found) }));
  return { ...storage, create: write, append: write };
}

/** Lists after a place what is also listed by a wrong condition. */
function listing(
  isListed: (row: { sessionId: string }, after: { sessionId: string }) => boolean,
): Storage {
  const storage = wholeStorage();
  return {
    ...storage,
    listsParts: true,
    async list({ limit, offset, ...request }) {
      const { after } = request;
      const all = await storage.list({ ...request, offset: 0 });
      const sorted = sortList(all.sessions, request);
      const rows = sorted.filter((row) => after === undefined || isListed(row, after));
      const sessions = rows.slice(offset, limit === undefined ? undefined : offset + limit);
      const users = all.users.filter(({ userId }) => sessions.some((row) => row.userId === userId));
      return { ...all, users, sessions, total: all.sessions.length };
    },
  };
}

/** A floor that leaves out deleted states. */
function forgetsStates(): Storage {
  const storage = wholeStorage();
  let floor = 0;
  const showingFloor = showing(() => ({ floor }), storage);
  return {
    ...showingFloor,
    async delete(request) {
      const deleted = await storage.delete(request);
      if (request.what === 'session' || request.what === 'user')
        floor = deleted ? deleted.floor : 0;
    },
  };
}

/** A wrong storage, a case that finds it, and what the message says. */
export const WRONG: [name: string, make: () => Storage, testCase: string, message: RegExp][] = [
  [
    'parses states and writes them again',
    reparsing,
    'verbs: a write is stored whole, and texts come back as they were written',
    /state text is .* but should be .*\n {2}hint: rule 5 in docs\/writing_a_storage\.md/,
  ],
  [
    'has a floor below deleted states',
    forgetsStates,
    'verbs: floor is not below a deleted state',
    /floor is 0, but revision 40 was deleted\n {2}hint: rule 7/,
  ],
  [
    'has a floor of 0',
    () => showing(() => ({ floor: 0 })),
    'verbs: floor is not below a deleted session',
    /floor is 0, but revision 50 was deleted\n {2}hint: rule 7/,
  ],
  [
    'has a floor of 0',
    () => showing(() => ({ floor: 0 })),
    'a handle of a deleted session cannot append, even if the id exists again',
    /appendEvent ended with ok.*\n {2}call: appendEvent .* through handle \w+\n {2}hint: .*`floor`.*rule 7/,
  ],
  [
    'has an appendMany that rejects',
    () => ({ ...wholeStorage(), appendMany: () => Promise.reject(new Error('busy')) }),
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /appendMany failed: Error: busy/,
  ],
  [
    'has an appendMany that decides nothing',
    () => ({ ...wholeStorage(), appendMany: () => undefined }),
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /appendMany called no decide/,
  ],
  [
    'has an appendMany that stores nothing',
    () => {
      const storage = wholeStorage();
      const appendMany: Storage['appendMany'] = async (writes) => {
        for (const { request, decide } of writes) {
          await storage.append(request, (found) => void decide(found));
        }
      };
      return { ...storage, appendMany };
    },
    'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    /revision and events of s1 is \[1,0\], but should be \[2,1\]/,
  ],
  [
    'writes although decide refuses',
    () => {
      const storage = wholeStorage();
      const write: Storage['append'] = (request, decide) =>
        storage.append(request, (found) => {
          const { session } = found;
          const row = session && { ...session, revision: 9 };
          return decide(found) ?? { session: row, user: undefined, app: undefined, events: [] };
        });
      return { ...storage, create: write, append: write };
    },
    'verbs: a refusal writes nothing',
    /the session is \[1,9,17\d+\.25\], but should be \[1,1,17\d+\.25\]\n {2}hint: rule 2/,
  ],
  [
    'does not look up event ids',
    () => showing(() => ({ events: [] })),
    'verbs: decide gets the stored rows that the request asks for',
    /events is \[\], but should be/,
  ],
  [
    'returns changes from since on',
    () => {
      const storage = wholeStorage();
      const append: Storage['append'] = (request, decide) =>
        storage.append({ ...request, since: request.since - 1 }, decide);
      return { ...storage, append };
    },
    'verbs: changed holds the new and replaced events since a revision',
    /changed since 1 is .*"e1"/,
  ],
  [
    'keeps revisions as 32-bit integers',
    () =>
      showing(({ session }) => ({
        session: session && { ...session, revision: session.revision | 0 },
      })),
    'verbs: revisions may be as large as safe integers',
    /the revision of session is -2, but should be 9007199254740990/,
  ],
  [
    'stores a state only beside a session',
    () => {
      const storage = wholeStorage();
      const append: Storage['append'] = (request, decide) =>
        storage.append(request, (found) => {
          const changes = decide(found);
          return found.session === undefined ? undefined : changes;
        });
      return { ...storage, append };
    },
    'verbs: a state can be written without a session',
    /the user's state text is undefined/,
  ],
  [
    'lists a user once for each session',
    () => {
      const storage = wholeStorage();
      return {
        ...storage,
        async list(request) {
          const listing = await storage.list(request);
          const users = listing.sessions.flatMap(({ userId }) =>
            listing.users.filter((user) => user.userId === userId),
          );
          return { ...listing, users };
        },
      };
    },
    'verbs: a list has each user once',
    /the users is \[\["user",1\],\["user",1\]\], but should be/,
  ],
  [
    'hides what decide throws',
    () => {
      const storage = wholeStorage();
      const write: Storage['append'] = (request, decide) => {
        try {
          return storage.append(request, decide);
        } catch {
          return undefined;
        }
      };
      return { ...storage, create: write, append: write };
    },
    'verbs: a write whose decide throws is rejected, and writes nothing',
    /create hides the error that decide threw\n {2}hint: rule 2/,
  ],
  [
    'lets other writes in between',
    () => {
      const storage = wholeStorage();
      const append: Storage['append'] = async (request, decide) => {
        let changes: Changes | undefined;
        await storage.append(request, (found) => void (changes = decide(found)));
        await new Promise(setImmediate);
        await storage.append(request, () => changes);
      };
      return { ...storage, append };
    },
    'verbs: writes at the same time lose nothing',
    /after 8 appends at once is \[2,.* but should be \[9,.*\n {2}hint: rule 1/,
  ],
  [
    'has a describe that writes a row it read before',
    () => {
      const storage = wholeStorage();
      const rename: Storage['describe'] = async ({ key, title }) => {
        const { session } = await storage.read({ key, window: {} });
        await new Promise(setImmediate);
        const request = { key, scopes: [], eventIds: [], since: Number.MAX_SAFE_INTEGER };
        const row = session && { ...session, title };
        await storage.append(request, () => ({
          session: row,
          user: undefined,
          app: undefined,
          events: [],
        }));
        return session !== undefined;
      };
      return { ...storage, describe: rename };
    },
    'verbs: writes at the same time lose nothing',
    /after 8 appends at once is \[1,/,
  ],
  [
    'looks up only some of many event ids',
    () => showing(({ events }) => ({ events: events.slice(0, 999) })),
    'verbs: decide gets all events of a long request',
    /the number of events is 999, but should be 1500/,
  ],
  [
    'keeps times as 32-bit numbers',
    () =>
      showing(({ changed }) => ({
        changed: changed.map((row) => ({ ...row, timestamp: Math.fround(row.timestamp) })),
      })),
    'verbs: a write is stored whole, and texts come back as they were written',
    /the timestamp of event e1 is .* but should be 1700000000000\.25/,
  ],
  [
    'ignores since in a read',
    () => {
      const storage = wholeStorage();
      return {
        ...storage,
        read: ({ key, window: { last = Infinity } }) => storage.read({ key, window: { last } }),
      };
    },
    'verbs: changed holds the new and replaced events since a revision',
    /a read since 1 is/,
  ],
  [
    'ignores a scope of a later version',
    () => {
      const storage = wholeStorage();
      const append: Storage['append'] = (request, decide) =>
        storage.append({ ...request, scopes: ['session', 'user', 'app'] }, decide);
      return { ...storage, append };
    },
    'verbs: a scope and a deletion that the storage does not know are refused',
    /append ended with success, but should reject and name 'laterName'\n {2}hint: What a storage gets/,
  ],
  [
    'returns a floor below what it deleted',
    () => {
      const storage = wholeStorage();
      return {
        ...storage,
        async delete(request) {
          await storage.delete(request);
          return { floor: 0 };
        },
      };
    },
    'verbs: floor is not below a deleted session',
    /floor is 0, but revision 50 was deleted/,
  ],
  [
    'has a describe that raises the revision',
    () => {
      const storage = wholeStorage();
      return {
        ...storage,
        async read(request) {
          const rows = await storage.read(request);
          const { session } = rows;
          const revision = (session?.revision ?? 0) + Number(session?.title !== undefined);
          return { ...rows, session: session && { ...session, revision } };
        },
      };
    },
    'verbs: describe, if there is one, changes the title and the labels and nothing else',
    /the session is \[1,3,.*but should be \[1,2,/,
  ],
  [
    'lists the states of users of other pages',
    () => {
      const storage = wholeStorage();
      const list: Storage['list'] = async ({ offset, limit = Infinity, ...request }) => {
        const all = await storage.list({ ...request, offset: 0 });
        const sessions = sortList(all.sessions, request).slice(offset, offset + limit);
        return { ...all, sessions, total: all.sessions.length };
      };
      return { ...storage, list, listsParts: true };
    },
    'verbs: list, if it lists parts, returns a page and the sessions after a place',
    /the states of users who are not on the page is \[\{/,
  ],
  [
    'lists the sessions of users whose ids differ in case',
    () => {
      const storage = wholeStorage();
      return {
        ...storage,
        async list({ userId, ...request }) {
          const all = await storage.list(request);
          const isListed = (row: { userId: string }) =>
            userId === undefined || row.userId.toLowerCase() === userId.toLowerCase();
          const sessions = all.sessions.filter(isListed);
          return { ...all, sessions, users: all.users.filter(isListed), total: sessions.length };
        },
      };
    },
    'verbs: a list has each user once',
    /a user's sessions and states is \[2,0\], but should be \[1,0\]/,
  ],
  [
    'compares only times and session ids in a list after a place',
    () => listing((row, after) => row.sessionId !== after.sessionId),
    'verbs: list, if it lists parts, returns a page and the sessions after a place',
    /but should be \["\uffff of user"\]\n {2}hint: Optional verbs/,
  ],
  [
    'has a deleteUnchanged that compares before it locks',
    () => {
      const storage = wholeStorage();
      const deleteUnchanged: Storage['deleteUnchanged'] = async (request) => {
        const { session } = await storage.read({ key: request.key, window: {} });
        await new Promise(setImmediate);
        if (
          session?.revision !== request.revision ||
          (request.labels ?? '') !== (session.labels ?? '')
        )
          return false;
        await storage.delete({ what: 'session', key: request.key });
        return true;
      };
      return { ...storage, deleteUnchanged };
    },
    'verbs: deleteUnchanged, if there is one, deletes only a session that is as it was listed',
    /it deleted a session to which an append was stored meanwhile\n {2}hint: Optional verbs/,
  ],
  [
    'returns no events',
    () => ({ ...wholeStorage(), read: () => ({}) as never }),
    'verbs: a refusal writes nothing',
    /The storage's read gave events that are not an array but undefined\./,
  ],
];
