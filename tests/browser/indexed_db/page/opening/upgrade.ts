// A database of version 1 of the layout, and its upgrade.

import { IndexedDbSessionService } from 'adk-session-wasm';
import type { StoreName } from '../../../../../js/indexed_db/layout.js';
import { around } from '../around.js';
import { completion, dump, openBare, putRows, type Row, withDatabase } from '../bare.js';
import { APP, type Failure, failure, keyOf, mark, numbers, say, USER } from '../events.js';

/** The records of a database, by store. The marks of a page are an array. */
export type Records = Record<string, Row[]>;

/** The stores of a database: their keys, and by name each index with its key. */
export type Layout = Record<string, { key: unknown; indexes: Record<string, unknown> }>;

/** Makes a database of version 1 without any code of the package. */
export async function makeVersion1(name: string, records: Records): Promise<void> {
  const database = await openBare(name, 1, (database) => {
    const sessions = database.createObjectStore('sessions', {
      keyPath: ['appName', 'userId', 'sessionId'],
    });
    sessions.createIndex('app', ['appName', 'lastUpdateTime', 'sessionId', 'userId']);
    sessions.createIndex('user', ['appName', 'userId', 'lastUpdateTime', 'sessionId']);
    const events = database.createObjectStore('events', { keyPath: ['number', 'seq'] });
    events.createIndex('id', 'ids', { unique: true, multiEntry: true });
    events.createIndex('time', ['number', 'time']);
    events.createIndex('replaced', 'replaced');
    database.createObjectStore('states', { keyPath: 'key' });
    database.createObjectStore('meta', { keyPath: 'key' });
  });
  database.close();
  for (const [store, rows] of Object.entries(records)) {
    const stored = rows.map(({ marks, ...row }) =>
      marks === undefined ? row : { ...row, marks: Float64Array.from(marks as number[]) },
    );
    await putRows(name, store as StoreName, stored);
  }
}

/** The data that the public calls read, as JSON. */
export interface Readable {
  sessions: Record<string, { state: object; events: [id: string, text: string][] }>;
  listed: [userId: string, sessionId: string][];
  /** Ids of the sessions by `createTime`. */
  byCreation: string[];
  bob: object;
}

async function readAll(service: IndexedDbSessionService): Promise<Readable> {
  const { sessions: listed } = await service.listSessions({ appName: APP });
  const byCreation = await service.listSessions({ appName: APP, orderBy: 'createTime' });
  const sessions: Readable['sessions'] = {};
  for (const { userId, id } of listed.filter(({ userId }) => userId === USER)) {
    const { state, events } = (await service.getSession({ appName: APP, userId, sessionId: id }))!;
    const texts = events.map(({ id, content }): [string, string] => [
      id,
      content?.parts?.[0]?.text ?? '',
    ]);
    sessions[id] = { state, events: texts };
  }
  return {
    sessions,
    listed: listed.map(({ userId, id }) => [userId, id]),
    byCreation: byCreation.sessions.map(({ id }) => id),
    bob: await service.getUserState({ appName: APP, userId: 'bob' }),
  };
}

export async function readUpgradedRecords(name: string): Promise<Readable> {
  const service = new IndexedDbSessionService({ name });
  const all = await readAll(service);
  await service.close();
  return all;
}

/** Appends so many events one by one that old and new records share a page, and replaces an old event. */
export async function writeUpgradedRecords(name: string, count: number): Promise<Readable> {
  const service = new IndexedDbSessionService({ name });
  const session = (await service.getSession(keyOf('long')))!;
  const events = numbers(count).map((number) => say(`new ${number}`));
  await Promise.all(events.map((event) => service.appendEvent({ session, event })));
  await service.appendEvent({ session, event: say('one', {}, 'replaced') });
  await service.deleteSession(keyOf('empty'));
  const fresh = await service.createSession(keyOf('fresh'));
  await service.appendEvent({ session: fresh, event: mark('first') });
  const all = await readAll(service);
  await service.close();
  return all;
}

export async function layoutOf(name: string): Promise<{ version: number; stores: Layout }> {
  return withDatabase(name, async (database) => {
    const stores: Layout = {};
    const transaction = database.transaction(database.objectStoreNames);
    for (const name of database.objectStoreNames) {
      const store = transaction.objectStore(name);
      const indexes = [...store.indexNames].map((name) => {
        const { keyPath, unique, multiEntry } = store.index(name);
        return [name, { keyPath, unique, multiEntry }];
      });
      stores[name] = {
        key: store.keyPath,
        indexes: Object.fromEntries(indexes) as Record<string, unknown>,
      };
    }
    await completion(transaction);
    return { version: database.version, stores };
  });
}

/** Opens a database that is not there yet. */
export async function makeNew(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  await service.open();
  await service.close();
}

/** An upgrade that fails after it has made some of its stores; all records before and after, as JSON. */
export async function failUpgrade(
  name: string,
): Promise<{ failed: Failure; version: number; before: string; after: string }> {
  const before = JSON.stringify(await dump(name));
  const end = around(IDBDatabase.prototype, 'createObjectStore', (_, values, proceed) => {
    if (values[0] === ('outbox' satisfies StoreName)) {
      throw new DOMException('no room', 'QuotaExceededError');
    }
    return proceed(...values);
  });
  const service = new IndexedDbSessionService({ name });
  const failed = await failure(() => service.getSession(keyOf('long')));
  await service.close();
  end();
  const version = await withDatabase(name, async ({ version }) => version);
  return { failed, version, before, after: JSON.stringify(await dump(name)) };
}

let older: IDBDatabase | undefined;
let wasTold = false;

/** Holds a database of version 1 open, as an older package does: it closes when another tab upgrades. */
export async function holdVersion1(name: string): Promise<void> {
  older = await openBare(name, 1);
  older.onversionchange = () => {
    wasTold = true;
    older?.close();
  };
}

/** Whether this tab was notified of the upgrade, and the error when it opens version 1 again. */
export async function openVersion1Again(
  name: string,
): Promise<{ wasTold: boolean; error: string }> {
  try {
    (await openBare(name, 1)).close();
    return { wasTold, error: '' };
  } catch (error) {
    return { wasTold, error: (error as DOMException).name };
  }
}
