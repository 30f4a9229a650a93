// Files of sessions: stored as Blobs, by two pages at once, erased with their sessions, also after a page has ended halfway.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InMemorySessionService, IndexedDbSessionService } from 'adk-session-wasm';
import { fork } from 'adk-session-wasm/history';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';
import { completion, dump, rows, withDatabase } from '../page/bare.js';
import { failure, keyOf, say } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = {
  keepFiles,
  putLarge,
  putMany,
  eraseFiles,
  finishErasures,
  putWithoutBlobs,
  putChanged,
  putFromFrame,
};
type Page = typeof inPage;

const MIB = 2 ** 20;
const filename = 'dir/a.bin';

export function artifacts(context: Context, browserName: BrowserName): void {
  it('a file is there after a reload, and a fork has it too', async () => {
    const name = newName();
    for (const wasThere of [false, true]) {
      await inTab<Page>(context, async (tab) => {
        const kept = await tab.call('keepFiles', name);
        assert.equal(kept.wasThere, wasThere);
        assert.deepEqual(kept.files, [
          { size: 3 * MIB + 5, type: 'image/png', edge: [MIB & 255, 255, 0, 1] },
          { size: 3 * MIB + 5, type: 'image/png', edge: [MIB & 255, 255, 0, 1] },
        ]);
        assert.deepEqual(kept.names, [filename, 'user:b']);
      });
    }
  });

  it('a file of 200 MB is stored and opened', async () => {
    await inTab<Page>(context, async (tab) => {
      const { size, ends, left } = await tab.call('putLarge', newName(), 200);
      assert.equal(size, 200 * MIB);
      assert.deepEqual(ends, [0, 199]);
      assert.equal(left, 0);
    });
  });

  it('two pages that put a file at once get all versions, each once', async () => {
    const name = newName();
    await inTwoTabs<Page>(context, async (one, other) => {
      await one.start('putMany', name, 30);
      const versions = [
        ...(await other.call('putMany', name, 30)),
        ...(await one.finish<'putMany'>()),
      ];
      assert.deepEqual(
        versions.sort((left, right) => left - right),
        Array.from({ length: 60 }, (_, version) => version),
      );
    });
  });

  it('deletions of sessions, of a user and of the database erase files', async () => {
    await inTab<Page>(context, async (tab) => {
      const { counts, refused, left } = await tab.call('eraseFiles', newName());
      assert.deepEqual(counts, { first: 3, session: 2, again: 0, user: 0, database: 0 });
      assert.equal(refused, 'not_found');
      assert.deepEqual(left, { files: 0, bytes: 0, notes: 0 });
    });
  });

  it('what a page did not erase before it ended, the next one erases, unless the session is there', async () => {
    await inTab<Page>(context, async (tab) => {
      const { names, left } = await tab.call('finishErasures', newName());
      assert.deepEqual(names, { kept: [filename], gone: [], unforked: [] });
      assert.deepEqual(left, { files: 1, bytes: 1, notes: 0 });
    });
  });

  // WebKitGTK gives a page no files that it may change.
  if (browserName !== 'webkit') {
    it('a file that was changed after it was chosen is refused, and one that was put is kept', async () => {
      await inTab<Page>(context, async (tab) => {
        for (const kind of ['memory', 'indexeddb'] as const) {
          const { refused, names, kept } = await tab.call('putChanged', newName(), kind);
          assert.equal(refused.code, 'invalid_argument');
          assert.match(refused.message, /"tea\.png" cannot be read/);
          assert.deepEqual(names, ['kept']);
          assert.equal(kept, 'first');
        }
      });
    });
  }

  it('a Blob, a File and a buffer of a frame are taken', async () => {
    await inTab<Page>(context, async (tab) => {
      const { types, texts } = await tab.call('putFromFrame', newName());
      assert.deepEqual(texts, ['blob', 'file', 'bytes', 'buffer']);
      assert.deepEqual(types.slice(0, 2), ['image/png', 'image/gif']);
    });
  });

  it('a browser that refuses Blobs keeps chunks', async () => {
    await inTab<Page>(context, async (tab) => {
      const { bytes, edge, whole } = await tab.call('putWithoutBlobs', newName());
      assert.deepEqual(bytes, [MIB, MIB, 7]);
      assert.deepEqual(edge, [255, 0, 1]);
      assert.equal(whole, 2 * MIB + 7);
    });
  });
}

/** Bytes that begin again with each MiB but for the first of it. */
function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 1) bytes[at] = at;
  return bytes;
}

async function bytesIn(blob: Blob | undefined): Promise<number[]> {
  return [...new Uint8Array((await blob?.arrayBuffer()) ?? [])];
}

async function keepFiles(name: string) {
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const [key, forked] = [keyOf('one'), keyOf('two')];
  const session = await service.getOrCreateSession(key);
  const wasThere = session.events.length > 0;
  if (!wasThere) {
    await service.appendEvent({ session, event: say('e1') });
    const data = new Blob([bytesOf(3 * MIB + 5)], { type: 'image/png' });
    await service.artifacts.put({ ...key, filename, data });
    await service.artifacts.put({ ...key, filename: 'user:b', data: bytesOf(3) });
    await fork(service, { ...key, newSessionId: 'two', at: { eventId: 'e1' } });
  }
  const files = [];
  for (const each of [key, forked]) {
    const blob = await service.artifacts.open({ ...each, filename });
    const range = { start: MIB - 1, end: MIB + 2 };
    const edge = await bytesIn(await service.artifacts.open({ ...each, filename, ...range }));
    files.push({ size: blob?.size, type: blob?.type, edge: [MIB & 255, ...edge] });
  }
  const names = await service.artifacts.listArtifactKeys(forked);
  await service.close();
  return { wasThere, files, names };
}

/** Puts a file of many MiB, of which each is filled with its number, and deletes it. */
async function putLarge(name: string, mebibytes: number) {
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const key = keyOf('one');
  await service.createSession(key);
  const parts = Array.from({ length: mebibytes }, (_, at) => new Uint8Array(MIB).fill(at));
  await service.artifacts.put({ ...key, filename, data: new Blob(parts) });
  const blob = await service.artifacts.open({ ...key, filename });
  const ends = [await bytesIn(blob?.slice(0, 1)), await bytesIn(blob?.slice(-1))].flat();
  await service.deleteSession(key);
  const { bytes: left } = await service.artifacts.usage(key);
  await service.close();
  return { size: blob?.size, ends, left };
}

async function putMany(name: string, count: number): Promise<number[]> {
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const key = keyOf('one');
  await service.getOrCreateSession(key);
  const data = bytesOf(1000);
  const puts = Array.from({ length: count }, () =>
    service.artifacts.put({ ...key, filename, data }),
  );
  const versions = (await Promise.all(puts)).map(({ version }) => version);
  await service.close();
  return versions;
}

async function eraseFiles(name: string) {
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const [one, two] = [keyOf('one'), keyOf('two')];
  const user = { appName: one.appName, userId: one.userId };
  const { artifacts } = service;
  const count = async () => (await artifacts.usage(user)).versions;
  for (const key of [one, two]) await service.createSession(key);
  for (const key of [one, two]) await artifacts.put({ ...key, filename, data: bytesOf(9) });
  await artifacts.put({ ...one, filename: 'user:b', data: bytesOf(9) });
  const first = await count();
  await service.deleteSession(one);
  const session = await count();
  const refused = await failure(() => artifacts.put({ ...one, filename, data: bytesOf(9) }));
  await service.createSession(one);
  const again = (await artifacts.listVersions({ ...one, filename })).length;
  await service.deleteUser(user);
  const ofUser = await count();
  const left = await counts(name);
  await service.createSession(one);
  await artifacts.put({ ...one, filename, data: bytesOf(9) });
  await IndexedDbSessionService.deleteDatabase(name);
  const database = await count();
  await service.close();
  return { counts: { first, session, again, user: ofUser, database }, refused: refused.code, left };
}

async function counts(name: string): Promise<Record<string, number>> {
  const all = await dump(`${name} artifacts`);
  return Object.fromEntries(Object.entries(all).map(([store, rows]) => [store, rows.length]));
}

async function finishErasures(name: string) {
  let service = new IndexedDbSessionService({ name, artifacts: true });
  const [kept, gone, unforked] = ['kept', 'gone', 'unforked'].map(keyOf) as [Key, Key, Key];
  for (const key of [kept, gone, unforked]) {
    await service.createSession(key);
    await service.artifacts.put({ ...key, filename, data: bytesOf(9) });
  }
  const sessions = await rows(name, 'sessions');
  await service.close();
  // As pages leave it that end between a note and what follows: the sessions are deleted, and the files are not.
  service = new IndexedDbSessionService({ name });
  for (const key of [gone, unforked]) await service.deleteSession(key);
  await service.close();
  await withDatabase(`${name} artifacts`, (database) => {
    const transaction = database.transaction('notes', 'readwrite');
    const store = transaction.objectStore('notes');
    for (const key of [kept, gone]) {
      const created = sessions.find(({ sessionId }) => sessionId === key.sessionId)?.created;
      const witness = { key, created };
      store.put({ id: key.sessionId, owner: key, reason: 'deletion', witness }, [key.sessionId]);
    }
    store.put({ id: 'fork', owner: unforked, reason: 'fork' }, ['fork']);
    return completion(transaction);
  });
  service = new IndexedDbSessionService({ name, artifacts: true });
  await service.createSession(gone);
  await service.artifacts.listArtifactKeys(kept);
  await service.createSession(unforked);
  const [first = [], second = [], third = []] = [
    await service.artifacts.listArtifactKeys(kept),
    await service.artifacts.listArtifactKeys(gone),
    await service.artifacts.listArtifactKeys(unforked),
  ];
  await service.close();
  return { names: { kept: first, gone: second, unforked: third }, left: await counts(name) };
}

type Key = ReturnType<typeof keyOf>;

/** Puts files of the browser's own file system, which a page may change as a user changes one on the disk. */
async function putChanged(name: string, kind: 'memory' | 'indexeddb') {
  const service =
    kind === 'memory'
      ? new InMemorySessionService({ artifacts: true })
      : new IndexedDbSessionService({ name, artifacts: true });
  const key = keyOf('one');
  await service.createSession(key);
  const root = await navigator.storage.getDirectory();
  const handle = await root.getFileHandle('tea.png', { create: true });
  const write = async (text: string): Promise<void> => {
    const writable = await handle.createWritable();
    await writable.write(text);
    await writable.close();
  };
  await write('first');
  const put = (filename: string, data: Blob) => service.artifacts.put({ ...key, filename, data });
  await put('kept', await handle.getFile());
  const chosen = await handle.getFile();
  // A file system may tell no two times of a second apart, so the size changes too.
  await write('it was changed');
  const refused = await failure(() => put('changed', chosen));
  await root.removeEntry('tea.png');
  const names = await service.artifacts.listArtifactKeys(key);
  const kept = await (await service.artifacts.open({ ...key, filename: 'kept' }))?.text();
  await service.close();
  return { refused, names, kept };
}

async function putFromFrame(name: string) {
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const key = keyOf('one');
  await service.createSession(key);
  const frame = document.body.appendChild(document.createElement('iframe'));
  const other = frame.contentWindow as Window & typeof globalThis;
  const bytes = new other.TextEncoder().encode('bytes');
  const all = [
    new other.Blob(['blob'], { type: 'image/png' }),
    new other.File(['file'], 'a.gif', { type: 'image/gif' }),
    bytes,
    new other.TextEncoder().encode('buffer').buffer,
  ];
  const types = [];
  const texts = [];
  for (const [version, data] of all.entries()) {
    types.push((await service.artifacts.put({ ...key, filename, data })).mimeType);
    texts.push(await (await service.artifacts.open({ ...key, filename, version }))?.text());
  }
  frame.remove();
  await service.close();
  return { types, texts };
}

async function putWithoutBlobs(name: string) {
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (value: unknown, key?: IDBValidKey) {
    if (!(value instanceof Blob)) return put.call(this, value, key);
    throw new DOMException('Error preparing Blob/File data to be stored', 'UnknownError');
  };
  const service = new IndexedDbSessionService({ name, artifacts: true });
  const key = keyOf('one');
  await service.createSession(key);
  try {
    await service.artifacts.put({ ...key, filename, data: bytesOf(2 * MIB + 7) });
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  const range = { start: MIB - 1, end: MIB + 2 };
  const edge = await bytesIn(await service.artifacts.open({ ...key, filename, ...range }));
  const whole = (await service.artifacts.open({ ...key, filename }))?.size;
  await service.close();
  const { bytes = [] } = await dump(`${name} artifacts`);
  return { bytes: bytes.map(({ value }) => (value as ArrayBuffer).byteLength), edge, whole };
}
