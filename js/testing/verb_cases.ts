/**
 * Tests of an adapter's verbs, for rules that no case through the service can show. Counterpart of
 * `verbs.rs`. Their changes are made by hand, so that texts and revisions are other ones than the
 * service writes.
 */
import type {
  Decide,
  StorageAdapter,
  StorageWrite,
  StorageWriteRequest,
} from '../storage/adapter.js';
import type {
  Changes,
  EventRow,
  Found,
  SessionRow,
  SharedRow,
  StorageKey,
} from '../storage/rows.js';
import { SHARED_SCOPES } from '../state/scope.js';
import { NO_SHARED_ROWS } from '../storage/own_adapter.js';
import { expectEqual } from './expect.js';

/** A test of an adapter without a service. */
export interface VerbCase {
  readonly name: string;
  /** The rule of `docs/writing_an_adapter.md` that it shows. */
  readonly rule: number;
  run(adapter: StorageAdapter): Promise<void>;
}

const USER = { appName: 'app', userId: 'user' };
const KEY = { ...USER, sessionId: 'session' };
const NEVER = Number.MAX_SAFE_INTEGER;
/** Numbers and a key that an adapter loses if it parses the text. */
const STATE = '{"z":1.50,"__proto__":12345678901234567890,"a":{"b":1e400}}';

const refuse: Decide = () => undefined;
const changing =
  (rows: Partial<Changes>): Decide =>
  () => ({ ...NO_SHARED_ROWS, events: [], ...rows });

function eventRow(id: string, seq: number, revision = seq): EventRow {
  return { id, seq, revision, timestamp: 0.5, text: `{ "n":1.50, "id":${JSON.stringify(id)} }` };
}

function sessionRow(revision: number, key = KEY): SessionRow {
  return { ...key, created: 1, revision, lastUpdateTime: 1000.25, state: STATE };
}

/** Changes of everything, with one event for each id. Their revisions count from 1. */
function filled(revision: number, ...ids: string[]): Changes {
  const row: SharedRow = { revision, state: STATE };
  const events = ids.map((id, number) => eventRow(id, number + 1));
  return { session: sessionRow(revision), user: row, app: row, events };
}

/** A write that keeps the rows of its last decision. */
class RecordedWrite implements StorageWrite {
  readonly request: StorageWriteRequest;
  found: Found | undefined;
  readonly #decide: Decide;

  constructor(decide: Decide, request: Partial<StorageWriteRequest> = {}) {
    const scopes = ['session', ...SHARED_SCOPES] as const;
    this.request = { key: KEY, scopes, eventIds: [], since: NEVER, ...request };
    this.#decide = decide;
  }

  readonly decide = (found: Found): Changes | undefined => {
    this.found = found;
    return this.#decide(found);
  };

  async run(adapter: StorageAdapter, verb: 'create' | 'append' = 'append'): Promise<Found> {
    await adapter[verb](this.request, this.decide);
    if (this.found === undefined) throw new Error(`${verb} did not call decide`);
    return this.found;
  }
}

async function create(adapter: StorageAdapter, changes: Changes): Promise<Found> {
  return new RecordedWrite(() => changes).run(adapter, 'create');
}

/** Returns the rows that `decide` gets, and writes nothing. */
async function findRows(
  adapter: StorageAdapter,
  request: Partial<StorageWriteRequest> = {},
  verb: 'create' | 'append' = 'append',
): Promise<Found> {
  return new RecordedWrite(refuse, request).run(adapter, verb);
}

const read = async (adapter: StorageAdapter, key: StorageKey = KEY) =>
  adapter.read({ key, window: {} });

const head = (row?: SessionRow | null) => row && [row.created, row.revision, row.lastUpdateTime];
const revisions = (rows: readonly EventRow[]) =>
  [...rows].sort((a, b) => a.seq - b.seq).map(({ id, seq, revision }) => [id, seq, revision]);

function expectAbsent(rows: object, ...names: (keyof Found)[]): void {
  for (const name of names) {
    expectEqual(name, undefined, (rows as Partial<Found>)[name] ?? undefined);
  }
}

function expectFloor(found: Found, atLeast: number): void {
  if (found.floor >= atLeast) return;
  throw new Error(`floor is ${found.floor}, but revision ${atLeast} was deleted`);
}

export const verbCases: readonly VerbCase[] = [
  {
    name: 'verbs: a refusal writes nothing',
    rule: 2,
    async run(adapter) {
      await findRows(adapter, {}, 'create');
      expectAbsent(await read(adapter), 'session', ...SHARED_SCOPES);
      await create(adapter, filled(1, 'e1'));
      await findRows(adapter, { eventIds: ['e1'] });
      const { session, events } = await read(adapter);
      expectEqual('the session', [1, 1, 1000.25], head(session));
      expectEqual('the events', ['e1'], events.map(({ id }) => id)); // prettier-ignore
    },
  },
  {
    name: 'verbs: a write is stored whole, and texts come back as they were written',
    rule: 5,
    async run(adapter) {
      await create(adapter, filled(7, 'e1', 'e2'));
      const { session, events, ...shared } = await read(adapter);
      expectEqual('the session', [1, 7, 1000.25], head(session));
      expectEqual("the session's state text", STATE, session?.state);
      for (const scope of SHARED_SCOPES) {
        expectEqual(`the revision of the ${scope}`, 7, shared[scope]?.revision);
        expectEqual(`the ${scope}'s state text`, STATE, shared[scope]?.state);
      }
      const found = await findRows(adapter, { eventIds: ['e1', 'e2'], since: 0 });
      for (const rows of [events, found.events, found.changed]) {
        expectEqual('the events', [['e1', 1, 1], ['e2', 2, 2]], revisions(rows)); // prettier-ignore
        for (const { id, timestamp, text } of rows) {
          expectEqual(`the timestamp of event ${id}`, 0.5, timestamp);
          const { n, id: idInText } = JSON.parse(text) as Record<string, unknown>;
          expectEqual(`the JSON value of event ${id}`, [1.5, id], [n, idInText]);
        }
      }
    },
  },
  {
    name: 'verbs: decide gets the stored rows that the request asks for',
    rule: 2,
    async run(adapter) {
      const empty = await findRows(adapter, { eventIds: ['e1'], since: 0 });
      expectAbsent(empty, 'session', ...SHARED_SCOPES);
      await create(adapter, filled(3, 'e1', 'e2', 'e3'));
      const found = await findRows(adapter, { eventIds: ['e2', 'none', 'e1'] });
      expectEqual('session', [1, 3, 1000.25], head(found.session));
      for (const scope of SHARED_SCOPES) {
        expectEqual(`the revision of ${scope}`, 3, found[scope]?.revision);
      }
      expectEqual('events', [['e1', 1, 1], ['e2', 2, 2]], revisions(found.events)); // prettier-ignore
      expectEqual('changed', [], revisions(found.changed));
      expectEqual('events that were not asked for', [], (await findRows(adapter)).events);
    },
  },
  {
    name: 'verbs: changed holds the new and replaced events since a revision',
    rule: 6,
    async run(adapter) {
      await create(adapter, filled(3, 'e1', 'e2', 'e3'));
      const events = [eventRow('e2', 2, 8), eventRow('e4', 9)];
      await new RecordedWrite(changing({ session: sessionRow(9), events })).run(adapter);
      const all = [['e1', 1, 1], ['e2', 2, 8], ['e3', 3, 3], ['e4', 9, 9]]; // prettier-ignore
      for (const since of [0, 1, 3, 8, 9]) {
        const { changed } = await findRows(adapter, { since });
        const expected = all.filter(([, , revision]) => Number(revision) > since);
        expectEqual(`changed since ${since}`, expected, revisions(changed));
      }
      const { events: stored } = await read(adapter);
      expectEqual('the events', ['e1', 'e2', 'e3', 'e4'], stored.map(({ id }) => id)); // prettier-ignore
    },
  },
  {
    name: 'verbs: revisions may be as large as safe integers',
    rule: 6,
    async run(adapter) {
      const largest = NEVER - 1;
      await create(adapter, filled(1, 'e1'));
      const events = [eventRow('e2', largest)];
      await new RecordedWrite(changing({ session: sessionRow(largest), events })).run(adapter);
      const { session, changed } = await findRows(adapter, { since: largest - 1 });
      expectEqual('the revision of session', largest, session?.revision);
      expectEqual('changed', [['e2', largest, largest]], revisions(changed));
    },
  },
  {
    name: 'verbs: floor is not below a deleted session',
    rule: 7,
    async run(adapter) {
      for (const what of ['session', 'user'] as const) {
        const revision = what === 'session' ? 50 : 100;
        await create(adapter, filled(revision, 'e1'));
        await adapter.delete(what === 'user' ? { what, key: USER } : { what, key: KEY });
        const found = await findRows(adapter, { eventIds: ['e1'], since: 0 });
        expectAbsent(found, 'session');
        expectEqual('the deleted events', [[], []], [found.events, found.changed]);
        expectFloor(found, revision);
        expectFloor(await findRows(adapter, {}, 'create'), revision);
      }
    },
  },
  {
    name: 'verbs: floor is not below a deleted state',
    rule: 7,
    async run(adapter) {
      await create(adapter, filled(1));
      const user = { revision: 40, state: STATE };
      const app = { revision: 50, state: STATE };
      await new RecordedWrite(changing({ user, app })).run(adapter);
      await adapter.delete({ what: 'userState', key: USER });
      expectFloor(await findRows(adapter), 40);
      await adapter.delete({ what: 'appState', key: { appName: 'app' } });
      const found = await findRows(adapter);
      expectFloor(found, 50);
      expectAbsent(found, 'user', 'app');
      expectEqual('the session', [1, 1, 1000.25], head(found.session));
    },
  },
  {
    name: 'verbs: a state can be written without a session',
    rule: 2,
    async run(adapter) {
      const user = { revision: 1, state: STATE };
      const request = { key: USER, scopes: SHARED_SCOPES };
      const change = new RecordedWrite(changing({ user }), request);
      expectAbsent(await change.run(adapter), 'session', ...SHARED_SCOPES);
      const ofUser = await read(adapter, USER);
      expectEqual("the user's state text", STATE, ofUser.user?.state);
      expectAbsent(ofUser, 'session', 'app');
      expectAbsent(await read(adapter, { appName: 'app' }), 'session', ...SHARED_SCOPES);
      const { total } = await adapter.list({ appName: 'app', order: 'asc', offset: 0 });
      expectEqual('the total', 0, total);
    },
  },
  {
    name: 'verbs: a list has each user once',
    rule: 8,
    async run(adapter) {
      await create(adapter, filled(1, 'e1'));
      for (const [userId, sessionId] of [
        ['user', 'second'],
        ['other', 'third'],
      ] as const) {
        // prettier-ignore
        const key = { ...KEY, userId, sessionId };
        const change = changing({ session: sessionRow(2, key) });
        await new RecordedWrite(change, { key }).run(adapter, 'create');
      }
      const request = { appName: 'app', order: 'asc', offset: 0 } as const;
      const { sessions, users, total } = await adapter.list(request);
      expectEqual('the sessions', ['second', 'session', 'third'], sessions.map(({ sessionId }) => sessionId)); // prettier-ignore
      expectEqual('the users', [['user', 1]], users.map(({ userId, revision }) => [userId, revision])); // prettier-ignore
      expectEqual('the total', 3, total);
      const ofOther = await adapter.list({ ...request, userId: 'other' });
      expectEqual("a user's total and states", [1, 0], [ofOther.total, ofOther.users.length]);
    },
  },
  {
    name: 'verbs: listAfter, if there is one, returns the sessions after a place',
    rule: 8,
    run: listsAfterPlaces,
  },
  {
    name: 'verbs: readPage, if there is one, returns the events beside an event, in their order',
    rule: 6,
    run: readsPages,
  },
  {
    name: 'verbs: deleteUnchanged, if there is one, deletes only a session that is as it was listed',
    rule: 7,
    run: deletesUnchanged,
  },
  {
    name: 'verbs: appendMany, if there is one, decides and stores appends to several sessions',
    rule: 1,
    run: storesGroups,
  },
];

async function listsAfterPlaces(adapter: StorageAdapter): Promise<void> {
  if (adapter.listAfter === undefined) return;
  for (const [number, sessionId] of ['s1', 's2', 's3', 's4'].entries()) {
    const key = { ...KEY, sessionId };
    // The last two have the same time.
    const session = { ...sessionRow(2, key), lastUpdateTime: 1000.25 + Math.min(number, 2) };
    await new RecordedWrite(changing({ session }), { key }).run(adapter, 'create');
  }
  const pages: [order: 'asc' | 'desc', time: number, sessionId: string, ids: string[]][] = [
    ['asc', 1000, 's9', ['s1', 's2']],
    ['asc', 1000.25, 's1', ['s2', 's3']],
    ['asc', 1002.25, 's3', ['s4']],
    ['asc', 1002.25, 's4', []],
    ['desc', 9000, 's0', ['s4', 's3']],
    ['desc', 1002.25, 's4', ['s3', 's2']],
    ['desc', 1001, 's1', ['s1']],
  ];
  for (const [order, lastUpdateTime, sessionId, ids] of pages) {
    const after = { lastUpdateTime, sessionId, userId: 'user' };
    const { sessions, total } = await adapter.listAfter({ appName: 'app', order, after, limit: 2 });
    const listed = sessions.map((row) => row.sessionId).slice(0, 2);
    expectEqual(`the sessions after ${sessionId} (${order})`, ids, listed);
    expectEqual('the total', 4, total);
  }
}

async function readsPages(adapter: StorageAdapter): Promise<void> {
  if (adapter.readPage === undefined) return;
  const all = ['e1', 'e2', 'e3', 'e4', 'e5'];
  const none = await adapter.readPage({ key: KEY, direction: 'before', limit: 2 });
  expectEqual('the session', undefined, none.session ?? undefined);
  await create(adapter, filled(5, ...all));
  const pages: [direction: 'before' | 'after', eventId: string | undefined, ids: string[]][] = [
    ['before', undefined, ['e4', 'e5']],
    ['before', 'e4', ['e2', 'e3']],
    ['before', 'e2', ['e1']],
    ['before', 'e1', []],
    ['after', undefined, ['e1', 'e2']],
    ['after', 'e2', ['e3', 'e4']],
    ['after', 'e5', []],
  ];
  for (const [direction, eventId, ids] of pages) {
    const place = eventId === undefined ? {} : { eventId };
    const { session, events } = await adapter.readPage({ key: KEY, direction, limit: 2, ...place });
    expectEqual('the session', [1, 5, 1000.25], head(session));
    expectEqual(
      `the page ${direction} ${eventId ?? 'the end'}`,
      ids,
      events?.map(({ id }) => id),
    );
  }
  const request = { key: KEY, direction: 'after', eventId: 'e0', limit: 2 } as const;
  const { events } = await adapter.readPage(request);
  expectEqual('the page beside an event that is not stored', undefined, events ?? undefined);
}

async function deletesUnchanged(adapter: StorageAdapter): Promise<void> {
  if (adapter.deleteUnchanged === undefined) return;
  const remove = async (revision: number, labels?: string) =>
    adapter.deleteUnchanged?.({ key: KEY, revision, ...(labels !== undefined && { labels }) });
  expectEqual('the result without a session', false, await remove(50));
  await create(adapter, filled(50, 'e1'));
  for (const [revision, labels] of [[49], [51], [50, '{"a":"1"}']] as const) {
    expectEqual('the result for another session', false, await remove(revision, labels));
    expectEqual('the session', [1, 50, 1000.25], head((await read(adapter)).session));
  }
  const deleted = await remove(50);
  if (deleted === false || deleted === undefined) throw new Error('it did not delete the session');
  if (typeof deleted === 'object') expectEqual('the floor of the result', 50, deleted.floor);
  const found = await findRows(adapter, { eventIds: ['e1'], since: 0 });
  expectAbsent(found, 'session');
  expectEqual('the deleted events', [[], []], [found.events, found.changed]);
  expectFloor(found, 50);
  expectEqual('the result of the next call', false, await remove(50));
}

async function storesGroups(adapter: StorageAdapter): Promise<void> {
  if (adapter.appendMany === undefined) return;
  const keys = ['s1', 's2', 's3'].map((sessionId) => ({ ...KEY, sessionId }));
  for (const key of keys) {
    const change = changing({ session: sessionRow(1, key) });
    await new RecordedWrite(change, { key }).run(adapter, 'create');
  }
  const writes = keys.map((key, number) => {
    // The second one refuses.
    if (number === 1) return new RecordedWrite(refuse, { key });
    const change = ({ app }: Found): Changes => {
      const revision = (app?.revision ?? 1) + 1;
      const events = [eventRow('e1', 2)];
      const row = { revision, state: STATE };
      return { ...NO_SHARED_ROWS, session: sessionRow(2, key), app: row, events };
    };
    return new RecordedWrite(change, { key });
  });
  try {
    await adapter.appendMany(writes);
  } catch (cause) {
    throw new Error(`appendMany failed: ${String(cause)}`, { cause });
  }
  const decided = writes.filter(({ found }) => found !== undefined);
  if (decided.length === 0) throw new Error('appendMany called no decide');
  let appRevision: number | undefined;
  for (const [number, { request, found }] of writes.entries()) {
    const isStored = found !== undefined && number !== 1;
    const { session, events } = await read(adapter, request.key);
    const expected = isStored ? [2, 1] : [1, 0];
    const sessionId = request.key.sessionId;
    expectEqual(`revision and events of ${sessionId}`, expected, [session?.revision, events.length]); // prettier-ignore
    if (found === undefined) continue;
    expectEqual(`the app's revision for decide of ${sessionId}`, appRevision, found.app?.revision);
    if (isStored) appRevision = (appRevision ?? 1) + 1;
  }
}
