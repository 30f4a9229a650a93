/**
 * Tests of a storage's verbs, for rules that no case through the service can show. Counterpart of
 * `verbs.rs`. Their changes are made by hand, so that texts and revisions are other ones than the
 * service writes.
 */
import { SHARED_SCOPES } from '../values/state/scope.js';
import { NEVER } from '../core/wasm/protocol.js';
import type { VerbCase } from './case.js';
import { expectAbsent, expectEqual, expectFloor, expectUnknown } from './expect.js';
import {
  deletesUnchanged,
  describesSessions,
  listsParts,
  readsEvents,
  readsMarkers,
  readsPages,
  storesGroups,
} from './optional_verbs.js';
import {
  USER,
  KEY,
  STATE,
  TIME,
  appendOf,
  changing,
  createSession,
  eventRow,
  sessionRow,
  filled,
  RecordedWrite,
  create,
  findRows,
  read,
  head,
  revisions,
  range,
} from './verb_rows.js';

const see = (place: string) => `${place} in docs/writing_a_storage.md`;

export const verbCases: readonly VerbCase[] = [
  {
    name: 'verbs: a refusal writes nothing',
    hint: see('rule 2'),
    async run(storage) {
      await findRows(storage, {}, 'create');
      expectAbsent(await read(storage), 'session', ...SHARED_SCOPES);
      await create(storage, filled(1, 'e1'));
      await findRows(storage, { eventIds: ['e1'] });
      const { session, events } = await read(storage);
      expectEqual('the session', [1, 1, TIME], head(session));
      expectEqual('the events', ['e1'], events.map(({ id }) => id)); // prettier-ignore
    },
  },
  {
    name: 'verbs: a write whose decide throws is rejected, and writes nothing',
    hint: see('rule 2'),
    async run(storage) {
      const fail = (): never => {
        throw new Error('decide failed on purpose');
      };
      await create(storage, filled(1, 'e1'));
      for (const verb of ['create', 'append'] as const) {
        const isRejected = await new RecordedWrite(fail).run(storage, verb).then(() => false, () => true); // prettier-ignore
        if (!isRejected) throw new Error(`${verb} hides the error that decide threw`);
      }
      expectEqual('the session', [1, 1, TIME], head((await findRows(storage)).session));
    },
  },
  {
    name: 'verbs: writes at the same time lose nothing',
    hint: see('rule 1'),
    async run(storage) {
      await create(storage, filled(1));
      const ids = range(8).map((number) => `e${number}`);
      const renaming = storage.describe?.({ key: KEY, title: 'Tea' });
      const appends = ids.map((id) => new RecordedWrite(appendOf(id)).run(storage));
      await Promise.all([renaming, ...appends]);
      const { session, events } = await read(storage);
      const stored = events.map(({ id }) => id).sort();
      expectEqual('revision and events after 8 appends at once', [9, ids], [session?.revision, stored]); // prettier-ignore
      if (storage.describe) expectEqual('the title', 'Tea', session?.title);
    },
  },
  {
    name: 'verbs: a write is stored whole, and texts come back as they were written',
    hint: see('rule 5'),
    async run(storage) {
      await create(storage, filled(7, 'e1', 'e2'));
      const { session, events, ...shared } = await read(storage);
      expectEqual('the session', [1, 7, TIME], head(session));
      expectEqual("the session's state text", STATE, session?.state);
      for (const scope of SHARED_SCOPES) {
        expectEqual(`the revision of the ${scope}`, 7, shared[scope]?.revision);
        expectEqual(`the ${scope}'s state text`, STATE, shared[scope]?.state);
      }
      const found = await findRows(storage, { eventIds: ['e1', 'e2'], since: 0 });
      for (const rows of [events, found.events, found.changed]) {
        expectEqual('the events', [['e1', 1, 1], ['e2', 2, 2]], revisions(rows)); // prettier-ignore
        for (const { id, timestamp, text } of rows) {
          expectEqual(`the timestamp of event ${id}`, TIME, timestamp);
          const { n, id: idInText } = JSON.parse(text) as Record<string, unknown>;
          expectEqual(`the JSON value of event ${id}`, [1.5, id], [n, idInText]);
        }
      }
    },
  },
  {
    name: 'verbs: decide gets the stored rows that the request asks for',
    hint: see('rule 2'),
    async run(storage) {
      const empty = await findRows(storage, { eventIds: ['e1'], since: 0 });
      expectAbsent(empty, 'session', ...SHARED_SCOPES);
      await create(storage, filled(3, 'e1', 'e2', 'e3'));
      const found = await findRows(storage, { eventIds: ['e2', 'none', 'e1'] });
      expectEqual('session', [1, 3, TIME], head(found.session));
      for (const scope of SHARED_SCOPES) {
        expectEqual(`the revision of ${scope}`, 3, found[scope]?.revision);
      }
      expectEqual('events', [['e1', 1, 1], ['e2', 2, 2]], revisions(found.events)); // prettier-ignore
      expectEqual('changed', [], revisions(found.changed));
      expectEqual('events that were not asked for', [], (await findRows(storage)).events);
    },
  },
  {
    name: 'verbs: decide gets all events of a long request',
    hint: see('rule 6'),
    async run(storage) {
      const ids = range(1500).map((number) => `e${number}`);
      await create(storage, filled(ids.length, ...ids));
      const { events, changed } = await findRows(storage, { eventIds: ids, since: 0 });
      expectEqual('the number of events', ids.length, events.length);
      expectEqual('the number of changed events', ids.length, changed.length);
    },
  },
  {
    name: 'verbs: changed holds the new and replaced events since a revision',
    hint: see('rule 6'),
    async run(storage) {
      await create(storage, filled(3, 'e1', 'e2', 'e3'));
      const events = [eventRow('e2', 2, 8), eventRow('e4', 9)];
      await new RecordedWrite(changing({ session: sessionRow(9), events })).run(storage);
      const all = [['e1', 1, 1], ['e2', 2, 8], ['e3', 3, 3], ['e4', 9, 9]]; // prettier-ignore
      for (const since of [0, 1, 3, 8, 9]) {
        const { changed } = await findRows(storage, { since });
        const expected = all.filter(([, , revision]) => Number(revision) > since);
        expectEqual(`changed since ${since}`, expected, revisions(changed));
        const { events: read } = await storage.read({ key: KEY, window: { since, last: 100 } });
        expectEqual(`a read since ${since}`, expected, revisions(read));
      }
      const { events: stored } = await read(storage);
      expectEqual('the events', ['e1', 'e2', 'e3', 'e4'], stored.map(({ id }) => id)); // prettier-ignore
    },
  },
  {
    name: 'verbs: revisions may be as large as safe integers',
    hint: see('rule 6'),
    async run(storage) {
      const largest = NEVER - 1;
      await create(storage, filled(1, 'e1'));
      const events = [eventRow('e2', largest)];
      await new RecordedWrite(changing({ session: sessionRow(largest), events })).run(storage);
      const { session, changed } = await findRows(storage, { since: largest - 1 });
      expectEqual('the revision of session', largest, session?.revision);
      expectEqual('changed', [['e2', largest, largest]], revisions(changed));
    },
  },
  {
    name: 'verbs: floor is not below a deleted session',
    hint: see('rule 7'),
    async run(storage) {
      for (const what of ['session', 'user'] as const) {
        const revision = what === 'session' ? 50 : 100;
        await create(storage, filled(revision, 'e1'));
        const deleted = await storage.delete(what === 'user' ? { what, key: USER } : { what, key: KEY }); // prettier-ignore
        if (deleted) expectFloor(deleted, revision);
        const found = await findRows(storage, { eventIds: ['e1'], since: 0 });
        expectAbsent(found, 'session');
        expectEqual('the deleted events', [[], []], [found.events, found.changed]);
        expectFloor(found, revision);
        expectFloor(await findRows(storage, {}, 'create'), revision);
      }
    },
  },
  {
    name: 'verbs: floor is not below a deleted state',
    hint: see('rule 7'),
    async run(storage) {
      await create(storage, filled(1));
      const user = { revision: 40, state: STATE };
      const app = { revision: 50, state: STATE };
      await new RecordedWrite(changing({ user, app })).run(storage);
      await storage.delete({ what: 'userState', key: USER });
      expectFloor(await findRows(storage), 40);
      await storage.delete({ what: 'appState', key: { appName: 'app' } });
      const found = await findRows(storage);
      expectFloor(found, 50);
      expectAbsent(found, 'user', 'app');
      expectEqual('the session', [1, 1, TIME], head(found.session));
    },
  },
  {
    name: 'verbs: a state can be written without a session',
    hint: see('rule 2'),
    async run(storage) {
      const user = { revision: 1, state: STATE };
      const request = { key: USER, scopes: SHARED_SCOPES };
      const change = new RecordedWrite(changing({ user }), request);
      expectAbsent(await change.run(storage), 'session', ...SHARED_SCOPES);
      const ofUser = await read(storage, USER);
      expectEqual("the user's state text", STATE, ofUser.user?.state);
      expectAbsent(ofUser, 'session', 'app');
      expectAbsent(await read(storage, { appName: 'app' }), 'session', ...SHARED_SCOPES);
      const { sessions } = await storage.list({ appName: 'app', order: 'asc', offset: 0 });
      expectEqual('the sessions', 0, sessions.length);
    },
  },
  {
    name: 'verbs: a list has each user once',
    hint: see('rule 8'),
    async run(storage) {
      await create(storage, filled(1, 'e1'));
      for (const [userId, sessionId] of [
        ['user', 'second'],
        ['other', 'third'],
        ['Other', 'fourth'],
      ] as const) {
        await createSession(storage, { ...KEY, userId, sessionId });
      }
      const request = { appName: 'app', order: 'asc', offset: 0 } as const;
      const { sessions, users } = await storage.list(request);
      expectEqual('the sessions', ['fourth', 'second', 'session', 'third'], sessions.map(({ sessionId }) => sessionId).sort()); // prettier-ignore
      expectEqual('the users', [['user', 1]], users.map(({ userId, revision }) => [userId, revision])); // prettier-ignore
      const ofOther = await storage.list({ ...request, userId: 'other' });
      expectEqual("a user's sessions and states", [1, 0], [ofOther.sessions.length, ofOther.users.length]); // prettier-ignore
    },
  },
  {
    name: 'verbs: a scope and a deletion that the storage does not know are refused',
    hint: see('What a storage gets'),
    async run(storage) {
      const later = 'laterName' as string;
      const find = findRows(storage, { scopes: [later as 'app'] });
      await expectUnknown('append', later, find);
      const remove = async () => storage.delete({ what: later as 'appState', key: KEY });
      await expectUnknown('delete', later, remove());
    },
  },
  {
    name: 'verbs: describe, if there is one, changes the title and the labels and nothing else',
    hint: see('What a storage gets'),
    run: describesSessions,
  },
  {
    name: 'verbs: list, if it lists parts, returns a page and the sessions after a place',
    hint: see('Optional verbs'),
    run: listsParts,
  },
  {
    name: 'verbs: readPage, if there is one, returns the events beside an event, in their order',
    hint: see('Optional verbs'),
    run: readsPages,
  },
  {
    name: 'verbs: readEvents, if there is one, returns the events with the ids that are stored',
    hint: see('Optional verbs'),
    run: readsEvents,
  },
  {
    name: 'verbs: readMarkers, if there is one, returns the markers and the first events that they name',
    hint: see('Optional verbs'),
    run: readsMarkers,
  },
  {
    name: 'verbs: deleteUnchanged, if there is one, deletes only a session that is as it was listed',
    hint: see('Optional verbs'),
    run: deletesUnchanged,
  },
  {
    name: 'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    hint: see('Optional verbs'),
    run: storesGroups,
  },
];
