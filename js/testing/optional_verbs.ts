/** Tests of the verbs that an adapter need not have. An adapter without the verb passes. */
import type { StorageAdapter } from '../storage/adapter.js';
import type { Changes, Found } from '../storage/rows.js';
import { NO_SHARED_ROWS } from '../storage/built_in_adapter.js';
import { expectEqual } from './expect.js';
import {
  KEY,
  STATE,
  refuse,
  changing,
  eventRow,
  sessionRow,
  filled,
  RecordedWrite,
  create,
  findRows,
  read,
  head,
  expectAbsent,
  expectFloor,
} from './verb_rows.js';

export async function listsAfterPlaces(adapter: StorageAdapter): Promise<void> {
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

export async function readsPages(adapter: StorageAdapter): Promise<void> {
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

export async function deletesUnchanged(adapter: StorageAdapter): Promise<void> {
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

export async function storesGroups(adapter: StorageAdapter): Promise<void> {
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
