// Searches in five languages, as an engine knows letters and marks by its own tables; and the records of their words.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { sessionSearch } from 'adk-session-wasm/search';
import { type Context, inTab, newName } from '../context.js';

interface Searches {
  readonly texts: Readonly<Record<string, string>>;
  readonly queries: readonly { readonly query: string; readonly finds: readonly string[] }[];
}

/** What the tests call in the page. */
export const inPage = { searchAll, keepRecords, deleteWhileReading };
type Page = typeof inPage;

export function searches(context: Context): void {
  it('queries in five languages find the same texts as in Node', async () => {
    const file = new URL('../../../vectors/searches.json', import.meta.url);
    const given = JSON.parse(readFileSync(file, 'utf8')) as Searches;
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(
        await tab.call('searchAll', newName(), given),
        given.queries.map(({ finds }) => ({ found: finds, titled: finds, isComplete: true })),
      );
    });
  });

  it('a search that is still reading writes no words beside a database that was deleted', async () => {
    await inTab<Page>(context, async (tab) => {
      assert.deepEqual(await tab.call('deleteWhileReading', newName()), []);
    });
  });

  it('the next page finds what the one before has read, and a deletion erases the words', async () => {
    await inTab<Page>(context, async (tab) => {
      const all = [['s1', 's2', 's3'], ['s1']];
      assert.deepEqual(await tab.call('keepRecords', newName()), {
        first: all,
        second: all,
        read: [],
        foreign: [],
        records: [4, 3, 0, 0],
      });
    });
  });
}

/** Deletes the database and closes the service while a search reads a session. Returns the databases that are left. */
async function deleteWhileReading(name: string): Promise<string[]> {
  const user = { appName: 'shop', userId: 'ada' };
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession({ ...user, sessionId: 's1' });
  const content = { role: 'user', parts: [{ text: 'Green tea' }] };
  await service.appendEvent({ session, event: { author: 'user', invocationId: 'i', content } });
  const { getSession } = service;
  service.getSession = async (request) => {
    const read = await getSession.call(service, request);
    if (request.config?.view !== 'raw') return read;
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
    return read;
  };
  await sessionSearch(service)
    .find({ ...user, query: 'tea' })
    .catch(() => undefined);
  const databases = await indexedDB.databases();
  // WebKit lists one whose creation was aborted, with the version 0.
  return databases.flatMap(({ name: each = '', version = 0 }) =>
    each.startsWith(name) && version > 0 ? [each] : [],
  );
}

/** Searches, and again with another service; then deletes. Returns what was found, and the records after each step. */
async function keepRecords(name: string) {
  const user = { appName: 'shop', userId: 'ada' };
  const inWords = <T>(store: string, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open(`${name} words`);
      opening.onerror = () => reject(opening.error!);
      opening.onsuccess = () => {
        const database = opening.result;
        const request = work(database.transaction(store, 'readwrite').objectStore(store));
        request.onsuccess = () => resolve(request.result);
        database.close();
      };
    });
  const count = async () =>
    (await inWords('words', (store) => store.count())) +
    (await inWords('marks', (store) => store.count()));
  const find = async (service: IndexedDbSessionService, query: string) => {
    const { hits } = await sessionSearch(service).find({ ...user, query });
    return hits.map(({ sessionId }) => sessionId).sort();
  };
  const remembered = async (service: IndexedDbSessionService) => {
    const memory = sessionSearch(service).asMemoryService({ remembers: 'added' });
    const { memories } = await memory.searchMemory({ ...user, query: 'tea' });
    return memories.map(({ author }) => author);
  };
  const service = new IndexedDbSessionService({ name });
  for (const sessionId of ['s1', 's2', 's3']) {
    const session = await service.createSession({ ...user, sessionId });
    const content = { role: 'user', parts: [{ text: 'Green tea' }] };
    const event = { author: sessionId, invocationId: 'i', content };
    await service.appendEvent({ session, event });
  }
  const added = sessionSearch(service).asMemoryService({ remembers: 'added' });
  await added.addSessionToMemory({ ...user, id: 's1' });
  const first = [await find(service, 'tea'), await remembered(service)];
  const other = new IndexedDbSessionService({ name });
  const read: unknown[] = [];
  const { getSession } = other;
  other.getSession = (request) => {
    if (request.config?.view === 'raw') read.push(request.sessionId);
    return getSession.call(other, request);
  };
  const second = [await find(other, 'tea'), await remembered(other)];
  const records = [await count()];
  // A record of another session that had the id: its words are no hit, and are replaced.
  const foreign = { sessionId: 's2', version: '1 1', words: '\n coffee' };
  await inWords('words', (store) => store.put(foreign, ['shop', 'ada', 's2']));
  const found = await find(service, 'coffee');
  await other.deleteSession({ ...user, sessionId: 's3' });
  records.push(await count());
  await other.deleteUser(user);
  records.push(await count());
  await service.close();
  await other.close();
  await IndexedDbSessionService.deleteDatabase(name);
  const databases = await indexedDB.databases();
  records.push(databases.filter((database) => database.name?.startsWith(name)).length);
  return { first, second, read, foreign: found, records };
}

/** Stores each text as a message, and as a title, and returns the sessions that each query finds. */
async function searchAll(name: string, { texts, queries }: Searches) {
  const user = { appName: 'shop', userId: 'ada' };
  const said = new IndexedDbSessionService({ name });
  const titled = new IndexedDbSessionService({ name: `${name} titles` });
  for (const [sessionId, text] of Object.entries(texts)) {
    const session = await said.createSession({ ...user, sessionId });
    const content = { role: 'user', parts: [{ text }] };
    await said.appendEvent({ session, event: { author: 'user', invocationId: 'i', content } });
    await titled.createSession({ ...user, sessionId, title: text });
  }
  const search = sessionSearch(said);
  const results = [];
  for (const { query } of queries) {
    const { hits, isComplete } = await search.find({ ...user, query });
    const { sessions } = await titled.listSessions({ ...user, title: query });
    results.push({
      found: hits.map(({ sessionId }) => sessionId).sort(),
      titled: sessions.map(({ id }) => id).sort(),
      isComplete,
    });
  }
  await said.close();
  await titled.close();
  return results;
}
