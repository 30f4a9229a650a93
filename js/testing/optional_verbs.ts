/** Tests of the verbs that a storage need not have. A storage without the verb passes. */
import type { Storage } from '../core/storage/storage.js';
import type { Changes, EventRow, Found, SessionRow } from '../core/storage/rows.js';
import { expectAbsent, expectEqual, expectFloor } from './expect.js';
import {
  USER,
  KEY,
  NO_STATES,
  STATE,
  TIME,
  refuse,
  appendOf,
  eventRow,
  sessionRow,
  filled,
  RecordedWrite,
  create,
  createSession,
  findRows,
  read,
  head,
  revisions,
  range,
} from './verb_rows.js';

export async function listsParts(storage: Storage): Promise<void> {
  if (storage.listsParts !== true) return;
  await create(storage, { ...filled(1), session: undefined });
  for (const [number, sessionId] of ['s1', 's2', '😀', '\uffff'].entries()) {
    // The last two have the same time.
    const lastUpdateTime = TIME + Math.min(number, 2);
    await createSession(storage, { ...KEY, sessionId }, { lastUpdateTime });
  }
  const last = { ...KEY, sessionId: '\uffff' };
  await createSession(storage, { ...last, userId: 'other' }, { lastUpdateTime: TIME + 2 });
  await createSession(storage, { ...last, appName: 'other' }, { lastUpdateTime: TIME + 2 });
  type ListStart = readonly [
    order: 'asc' | 'desc',
    after: number,
    sessionId: string,
    userId: string,
  ];
  const list = async (
    [order, time, sessionId, userId]: ListStart,
    owner: { userId?: string } = {},
  ) => {
    const after = { lastUpdateTime: time, sessionId, userId };
    const listing = await storage.list({
      appName: 'app',
      order,
      after,
      offset: 0,
      limit: 2,
      ...owner,
    });
    const ids = listing.sessions.map((row) => `${row.sessionId} of ${row.userId}`).slice(0, 2);
    return { ...listing, ids };
  };
  const page = await storage.list({ appName: 'app', order: 'asc', offset: 3, limit: 1 });
  expectEqual('the fourth session', ['\uffff of other'], page.sessions.map((row) => `${row.sessionId} of ${row.userId}`)); // prettier-ignore
  expectEqual('the states of users who are not on the page', [], page.users);
  const pages: [place: ListStart, ids: string[]][] = [
    [['asc', TIME - 0.25, 's9', 'user'], ['s1 of user', 's2 of user']],
    [['asc', TIME, 's1', 'user'], ['s2 of user', '😀 of user']],
    [['asc', TIME + 2, '😀', 'user'], ['\uffff of other', '\uffff of user']],
    [['asc', TIME + 2, '\uffff', 'other'], ['\uffff of user']],
    [['asc', TIME + 2, '\uffff', 'user'], []],
    [['desc', TIME + 9000, 's0', 'user'], ['\uffff of user', '\uffff of other']],
    [['desc', TIME + 2, '\uffff', 'other'], ['😀 of user', 's2 of user']],
    [['desc', TIME + 0.75, 's1', 'user'], ['s1 of user']],
  ]; // prettier-ignore
  for (const [place, expected] of pages) {
    const { ids, total } = await list(place);
    expectEqual(`the sessions after ${place.join(' ')}`, expected, ids);
    expectEqual('the total', 5, total);
  }
  const { ids, users, app, total } = await list(['desc', TIME + 2, '\uffff', 'user'], USER);
  expectEqual("a user's sessions", ['😀 of user', 's2 of user'], ids);
  expectEqual("a user's total", 4, total);
  expectEqual('the states of user and app', [['user', STATE], STATE], [users.flatMap(({ userId, state }) => [userId, state]), app?.state]); // prettier-ignore
}

export async function describesSessions(storage: Storage): Promise<void> {
  const { describe } = storage;
  if (describe === undefined) return;
  const change = (changes: Pick<SessionRow, 'title' | 'labels'>) =>
    describe.call(storage, { key: KEY, ...changes });
  expectEqual('the result without a session', false, await change({ title: 'Tea' }));
  await create(storage, filled(2, 'e1', 'e2'));
  const [title, labels] = ['😀'.repeat(128), '{"a":"1"}'];
  const steps: [Parameters<typeof change>[0], shown: string[]][] = [
    [{ title }, [title, '']],
    [{ labels }, [title, labels]],
    [{ title: '' }, ['', labels]],
    [{ title, labels: '' }, [title, '']],
  ]; // prettier-ignore
  for (const [changes, shown] of steps) {
    expectEqual('the result', true, await change(changes));
    const { session, events } = await read(storage);
    expectEqual('title and labels', shown, [session?.title ?? '', session?.labels ?? '']);
    expectEqual('the session', [1, 2, TIME, STATE], [...head(session)!, session?.state]);
    expectEqual('the events', [['e1', 1, 1], ['e2', 2, 2]], revisions(events)); // prettier-ignore
  }
}

export async function readsPages(storage: Storage): Promise<void> {
  if (storage.readPage === undefined) return;
  const all = ['e1', 'e2', 'e3', 'e4', 'e5'];
  const none = await storage.readPage({ key: KEY, direction: 'before', limit: 2 });
  expectEqual('the session', undefined, none.session ?? undefined);
  await create(storage, filled(5, ...all));
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
    const { session, events } = await storage.readPage({ key: KEY, direction, limit: 2, ...place });
    expectEqual('the session', [1, 5, TIME], head(session));
    expectEqual(
      `the page ${direction} ${eventId ?? 'the end'}`,
      ids,
      events?.map(({ id }) => id),
    );
  }
  const request = { key: KEY, direction: 'after', eventId: 'e0', limit: 2 } as const;
  const { events } = await storage.readPage(request);
  expectEqual('the page beside an event that is not stored', undefined, events ?? undefined);
}

export async function readsEvents(storage: Storage): Promise<void> {
  if (storage.readEvents === undefined) return;
  const read = async (...eventIds: string[]) => storage.readEvents!({ key: KEY, eventIds });
  expectEqual('the session', undefined, (await read('e1')).session ?? undefined);
  await create(storage, filled(3, 'e1', 'e2', 'e3'));
  for (const ids of [['e2'], ['e3', 'missing', 'e1'], []]) {
    const { session, events } = await read(...ids);
    expectEqual('the session', [1, 3, TIME], head(session));
    const sorted = [...events].sort((one, other) => one.seq - other.seq);
    const stored = [1, 2, 3].map((seq): [string, number, number] => [`e${seq}`, seq, seq]);
    const expected = stored.filter(([id]) => ids.includes(id));
    expectEqual(`the events with the ids ${ids.join()}`, expected, revisions(sorted));
  }
}

export async function readsMarkers(storage: Storage): Promise<void> {
  if (storage.readMarkers === undefined) return;
  expectEqual('the session', undefined, (await storage.readMarkers({ key: KEY })).session);
  const members: readonly (readonly [id: string, invocationId: string, marker?: object])[] = [
    ['e1', 'i1'],
    ['e2', 'i2'],
    ['e3', 'i2'],
    ['e4', 'i1'],
    ['e5', 'i3'],
    ['m1', 'r1', { actions: { rewindBeforeInvocationId: 'i2' } }],
    ['m2', 'r2', { actions: { compaction: COMPACTION } }],
    ['m3', 'r3', { isCompacted: true, endTime: TIME }],
    ['m4', 'r4', { actions: { rewindBeforeInvocationId: 'r1' } }],
    ['m5', 'r5', { actions: { rewindBeforeInvocationId: 'missing' } }],
    ['e6', 'i4'],
    ['w1', 'i5', { author: 'agent', content: partOf('functionCall', 'adk_request_input') }],
    ['w2', 'i5', { author: 'user', content: partOf('functionResponse', 'adk_request_input') }],
    ['w3', 'i5', { author: 'agent', content: partOf('functionCall', 'pay'), ...LONG_RUNNING }],
    ['w4', 'i5', { author: 'user', content: partOf('functionResponse', 'pay') }],
    ['w5', 'i5', { author: 'agent', errorCode: 'INVOCATION_ABORTED', content: partOf('functionResponse', 'pay') }],
    ['w6', 'i6', { actions: { agentState: { nodes: { n: { status: 'waiting' } } } } }],
    ['w7', 'i6', { actions: { endOfAgent: true } }],
    ['e7', 'i7', { author: 'agent', content: partOf('functionCall', 'look') }],
  ]; // prettier-ignore
  const events = members.map(([id, invocationId, marker], index): EventRow => {
    const event = { id, invocationId, timestamp: TIME, ...marker };
    return { ...eventRow(id, index + 1), text: JSON.stringify(event) };
  });
  await create(storage, { ...filled(events.length), events });
  const marked = members.map(([id]) => id).filter((id) => /^[mw]/.test(id));
  const cases: [asked: { eventId?: string; invocationId?: string }, ids: string[]][] = [
    [{}, ['e2', ...marked]],
    [{ eventId: 'e4' }, ['e2', 'e4', ...marked]],
    [{ eventId: 'e0' }, ['e2', ...marked]],
    [{ invocationId: 'i1' }, ['e1', 'e2', ...marked]],
    [{ invocationId: 'i7' }, ['e2', ...marked, 'e7']],
    [{ invocationId: 'i0' }, ['e2', ...marked]],
  ];
  for (const [asked, ids] of cases) {
    const rows = await storage.readMarkers({ key: KEY, ...asked });
    expectEqual('the session', [1, events.length, TIME], head(rows.session));
    const order = rows.events.map(({ id }) => Number(events.findIndex((row) => row.id === id)));
    expectEqual(
      'the order',
      [...order].sort((one, other) => one - other),
      order,
    );
    const found = rows.events.map(({ id }) => id).filter((id) => ids.includes(id));
    expectEqual(`the markers, and ${Object.values(asked).join() || 'no event'}`, ids, found);
  }
}

const LONG_RUNNING = { longRunningToolIds: ['c1'] };

function partOf(kind: 'functionCall' | 'functionResponse', name: string): object {
  return { role: 'user', parts: [{ [kind]: { id: 'c1', name } }] };
}

const COMPACTION = {
  startTimestamp: TIME,
  endTimestamp: TIME,
  compactedContent: { role: 'model', parts: [{ text: 'tea' }] },
};

export async function deletesUnchanged(storage: Storage): Promise<void> {
  if (storage.deleteUnchanged === undefined) return;
  const remove = async (revision: number, labels?: string) =>
    storage.deleteUnchanged?.({ key: KEY, revision, ...(labels !== undefined && { labels }) });
  expectEqual('the result without a session', false, await remove(50));
  await create(storage, filled(50, 'e1'));
  for (const [revision, labels] of [[49], [51], [50, '{"a":"1"}']] as const) {
    expectEqual('the result for another session', false, await remove(revision, labels));
    expectEqual('the session', [1, 50, TIME], head((await read(storage)).session));
  }
  const deleted = await remove(50);
  if (deleted === false || deleted === undefined) throw new Error('it did not delete the session');
  if (typeof deleted === 'object') expectEqual('the floor of the result', 50, deleted.floor);
  const found = await findRows(storage, { eventIds: ['e1'], since: 0 });
  expectAbsent(found, 'session');
  expectEqual('the deleted events', [[], []], [found.events, found.changed]);
  expectFloor(found, 50);
  expectEqual('the result of the next call', false, await remove(50));
  for (const round of range(5)) {
    const revision = 60 + 10 * round;
    await create(storage, { ...filled(revision), ...NO_STATES });
    const append = new RecordedWrite(appendOf('late'));
    const [isDeleted] = await Promise.all([remove(revision), append.run(storage)]);
    if (isDeleted === false || append.found?.session === undefined) continue;
    throw new Error('it deleted a session to which an append was stored meanwhile');
  }
}

export async function storesGroups(storage: Storage): Promise<void> {
  if (storage.appendMany === undefined) return;
  const keys = ['s1', 's2', 's3'].map((sessionId) => ({ ...KEY, sessionId }));
  for (const key of keys) await createSession(storage, key, { revision: 1 });
  const writes = keys.map((key, number) => {
    // The second one refuses.
    if (number === 1) return new RecordedWrite(refuse, { key });
    const change = ({ app }: Found): Changes => {
      const revision = (app?.revision ?? 1) + 1;
      const events = [eventRow('e1', 2)];
      const row = { revision, state: STATE };
      return { ...NO_STATES, session: sessionRow(2, key), app: row, events };
    };
    return new RecordedWrite(change, { key });
  });
  try {
    await storage.appendMany(writes);
  } catch (cause) {
    throw new Error(`appendMany failed: ${String(cause)}`, { cause });
  }
  const decided = writes.filter(({ found }) => found !== undefined);
  if (decided.length === 0) throw new Error('appendMany called no decide');
  let appRevision: number | undefined;
  for (const [number, { request, found }] of writes.entries()) {
    const isStored = found !== undefined && number !== 1;
    const { session, events } = await read(storage, request.key);
    const expected = isStored ? [2, 1] : [1, 0];
    const sessionId = request.key.sessionId;
    expectEqual(`revision and events of ${sessionId}`, expected, [session?.revision, events.length]); // prettier-ignore
    if (found === undefined) continue;
    expectEqual(`the app's revision for decide of ${sessionId}`, appRevision, found.app?.revision);
    if (isStored) appRevision = (appRevision ?? 1) + 1;
  }
}
