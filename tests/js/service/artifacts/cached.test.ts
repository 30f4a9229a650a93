// Files of a cache: those of its server, and the ones that were opened, in the browser's Cache API.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import {
  type CachedSessionService,
  type LocalStore,
  MemoryLocalStore,
  signOut,
} from '../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { failsWith } from '../../fails_with.js';
import { bytesOf, FILE_BEHAVIOURS } from './behaviours.js';
import { KEY, openCache, OUTAGES, Server, until } from '../../stores/cache/fixture.js';

const filename = 'dir/ä.png';
const NAME = 'adk-session-wasm:files:ada';
const MIB = 2 ** 20;

/** As much of a browser's `caches` as is used. Keys are in the order of their last put. */
class Caches {
  readonly all = new Map<string, Map<string, Response>>();
  isBroken = false;

  open(name: string) {
    if (this.isBroken) return Promise.reject(new DOMException('no', 'SecurityError'));
    const entries = this.all.get(name) ?? new Map<string, Response>();
    this.all.set(name, entries);
    const addressOf = (key: Request | string) => new Request(key).url;
    return Promise.resolve({
      match: (key: string, { ignoreSearch = false } = {}) => {
        const [path] = addressOf(key).split('?');
        const isMeant = (url: string) => ignoreSearch && url.split('?')[0] === path;
        const found = [...entries.keys()].find(isMeant) ?? addressOf(key);
        return Promise.resolve(entries.get(found)?.clone());
      },
      put: (key: string, response: Response) => {
        entries.delete(addressOf(key));
        entries.set(addressOf(key), response);
        return Promise.resolve();
      },
      delete: (key: Request | string) => Promise.resolve(entries.delete(addressOf(key))),
      keys: () => Promise.resolve([...entries.keys()].map((url) => new Request(url))),
    });
  }

  /** Runs when a Cache has been deleted. */
  onDeleted: (() => Promise<unknown>) | undefined;

  async delete(name: string) {
    const isDeleted = this.all.delete(name);
    await this.onDeleted?.();
    return isDeleted;
  }
}

/** A local storage that is not known to be memory, as IndexedDB is not. */
function durable(): LocalStore {
  const memory = new MemoryLocalStore();
  return {
    transaction: (mode, work) => memory.transaction(mode, work),
    close: () => memory.close(),
  };
}

/** A server that tells the hashes of files. */
function serverWithHashes(): Server {
  return new Server(new DatabaseSessionService('sqlite::memory:', { artifacts: true }));
}

function serverWithFiles(): Server {
  return new Server(new InMemorySessionService({ artifacts: true }));
}

async function bytesIn(blob: Blob | undefined): Promise<unknown> {
  return blob && [...new Uint8Array(await blob.arrayBuffer())];
}

/** Lets a server tell what `adk api_server` tells of a version. */
function withoutSizes(server: Server): void {
  server.intercept = async (request) => {
    if (!request.url.endsWith('/metadata')) return undefined;
    const response = await server.send(request);
    const version = (await response.json()) as Record<string, unknown>;
    return Response.json({ ...version, size: undefined });
  };
}

describe('Files of a CachedSessionService', () => {
  let caches: Caches;
  beforeEach(() => {
    caches = new Caches();
    Object.assign(globalThis, { caches });
  });
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'caches');
  });

  for (const [title, run] of FILE_BEHAVIOURS.slice(0, 9)) {
    it(title, () => run(openCache(serverWithFiles(), { local: durable() }).cache));
  }

  for (const [outage, begin] of Object.entries(OUTAGES)) {
    it(`that were opened open again while the server ${outage}, and no others`, async () => {
      const server = serverWithFiles();
      const { cache } = openCache(server, { local: durable(), readTimeoutMs: 50 });
      await cache.createSession(KEY);
      for (const name of [filename, 'other']) {
        const data = new Blob([bytesOf(5)], { type: 'image/png' });
        await cache.artifacts.put({ ...KEY, filename: name, data });
      }
      await cache.artifacts.open({ ...KEY, filename });
      await cache.artifacts.open({ ...KEY, filename, version: 0 });
      const end = begin(server);
      for (const version of [undefined, 0]) {
        const request = { ...KEY, filename, ...(version !== undefined && { version }) };
        const blob = await cache.artifacts.open(request);
        assert.equal(blob?.type, 'image/png');
        assert.deepEqual(await bytesIn(blob), [...bytesOf(5)]);
        const part = await cache.artifacts.open({ ...request, start: 1, end: 3 });
        assert.deepEqual(await bytesIn(part), [...bytesOf(5)].slice(1, 3));
      }
      const signal = AbortSignal.timeout(300);
      const others = cache.artifacts.open({ ...KEY, filename: 'other', signal });
      await assert.rejects(others, /aborted|could not be reached/i);
      end();
    });
  }

  it('that were opened open again offline, also if the server was slow to tell of them', async () => {
    const server = serverWithFiles();
    const { cache } = openCache(server, { local: durable(), readTimeoutMs: 50 });
    await cache.createSession(KEY);
    await cache.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    server.intercept = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return undefined;
    };
    await cache.artifacts.open({ ...KEY, filename });
    server.isOffline = true;
    assert.equal((await cache.artifacts.open({ ...KEY, filename }))?.size, 5);
  });

  it('that were opened are not sent again, and a new version is', async () => {
    const server = serverWithHashes();
    const { cache } = openCache(server, { local: durable() });
    await cache.createSession(KEY);
    const put = (size: number, name = filename) =>
      cache.artifacts.put({ ...KEY, filename: name, data: bytesOf(size) });
    const opened = async (name = filename) => {
      server.requests.length = 0;
      const blob = await cache.artifacts.open({ ...KEY, filename: name });
      const isSent = server.requests.some((request) => !request.endsWith('/metadata'));
      return [blob?.size, isSent];
    };
    await put(5);
    assert.deepEqual(await opened(), [5, true]);
    assert.deepEqual(await opened(), [5, false]);
    await put(6);
    assert.deepEqual(await opened(), [6, true]);
    // The same bytes have the same hash.
    await put(6, 'copy');
    assert.deepEqual(await opened('copy'), [6, false]);
    await cache.artifacts.deleteArtifact({ ...KEY, filename });
    assert.deepEqual(await opened(), [undefined, false]);
    server.isOffline = true;
    await assert.rejects(opened(), failsWith('connection_lost'));
    await server.service.close();
  });

  it('are forgotten with the owner, also one that is being opened', async () => {
    const server = serverWithFiles();
    const { cache } = openCache(server, { local: durable() });
    await cache.createSession(KEY);
    await cache.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    await cache.artifacts.open({ ...KEY, filename });
    assert.ok(caches.all.has(NAME));
    server.intercept = async ({ url }) => {
      if (url.includes('alt=media')) await cache.forget();
      return undefined;
    };
    await cache.artifacts.put({ ...KEY, filename, data: bytesOf(6) });
    await cache.artifacts.open({ ...KEY, filename }).catch(() => undefined);
    assert.deepEqual([...caches.all.keys()], []);
    server.isOffline = true;
    await assert.rejects(cache.artifacts.open({ ...KEY, filename }), failsWith('connection_lost'));
  });

  for (const [title, end] of [
    ['the local data is forgotten', ({ cache }) => cache.forget()],
    ['the owner signs out', ({ cache }) => signOut(cache, { unsent: 'drop' })],
    ['its caller aborts it', ({ caller }) => Promise.resolve(caller.abort())],
  ] satisfies [
    string,
    (of: { cache: CachedSessionService; caller: AbortController }) => unknown,
  ][]) {
    it(`do not leave the device by a put that has not been sent when ${title}`, async () => {
      const server = serverWithFiles();
      const { cache } = openCache(server, { local: durable() });
      await cache.createSession(KEY);
      await cache.sync();
      let isRead = (): void => undefined;
      const reading = new Promise<void>((resolve) => (isRead = resolve));
      let goOn = (): void => undefined;
      const rest = new Promise<void>((resolve) => (goOn = resolve));
      async function* data() {
        yield bytesOf(5);
        isRead();
        await rest;
      }
      const caller = new AbortController();
      const put = cache.artifacts.put({ ...KEY, filename, data: data(), signal: caller.signal });
      const refused = assert.rejects(put, failsWith('aborted'));
      await reading;
      await end({ cache, caller });
      goOn();
      await refused;
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(await server.service.artifacts.listArtifactKeys(KEY), []);
    });
  }

  it('are forgotten if another tab opens one while the owner is forgotten', async () => {
    const server = serverWithFiles();
    const { cache, local } = openCache(server, { local: durable() });
    await cache.createSession(KEY);
    await cache.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    const { cache: other } = openCache(server, { local });
    await other.getSession(KEY);
    caches.onDeleted = async () => {
      caches.onDeleted = undefined;
      await other.artifacts.open({ ...KEY, filename });
      assert.ok(caches.all.has(NAME));
    };
    await cache.forget();
    assert.equal(caches.onDeleted, undefined);
    await until(() => !caches.all.has(NAME));
  });

  it('are of one owner', async () => {
    const server = serverWithFiles();
    await server.service.createSession(KEY);
    await server.service.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    const { cache, local } = openCache(server, { local: durable() });
    await cache.artifacts.open({ ...KEY, filename });
    server.isOffline = true;
    const { cache: other } = openCache(server, { local, owner: 'eve' });
    await assert.rejects(other.artifacts.open({ ...KEY, filename }), failsWith('connection_lost'));
  });

  for (const [title, tellsSize] of [
    ['', true],
    [', also from a server that tells no size', false],
  ] as const) {
    it(`are kept up to a number of bytes: the first goes first, and a large one is not kept${title}`, async () => {
      const server = serverWithFiles();
      if (!tellsSize) withoutSizes(server);
      await server.service.createSession(KEY);
      const { cache } = openCache(server, { local: durable() });
      const sizes = [31, 31, 31, 31, 31, 33];
      for (const [index, size] of sizes.entries()) {
        const name = `f${index}`;
        const data = new Blob([new Uint8Array(size * MIB)]);
        await server.service.artifacts.put({ ...KEY, filename: name, data });
        // Not through HTTP in parts: only what is kept counts.
        await cache.artifacts.open({ ...KEY, filename: name });
      }
      server.isOffline = true;
      const kept = [];
      for (const index of sizes.keys()) {
        const opened = cache.artifacts.open({ ...KEY, filename: `f${index}` });
        kept.push(await opened.then(Boolean, () => false));
      }
      assert.deepEqual(kept, [false, true, true, true, true, false]);
    });
  }

  it('are kept up to a number of bytes with what is known of them', async () => {
    const server = serverWithFiles();
    await server.service.createSession(KEY);
    const { cache } = openCache(server, { local: durable() });
    const put = (name: string, size: number) => {
      const data = new Blob([new Uint8Array(size)]);
      const customMetadata = { text: 'x'.repeat(MIB / 64) };
      return server.service.artifacts.put({ ...KEY, filename: name, data, customMetadata });
    };
    for (const name of ['a', 'b', 'c', 'd']) {
      // The four leave room for 16 entries.
      await put(name, name === 'd' ? 32 * MIB - MIB / 64 : 32 * MIB);
      await cache.artifacts.open({ ...KEY, filename: name });
    }
    for (let each = 0; each < 9; each += 1) {
      await put(`part${each}`, 5);
      await cache.artifacts.open({ ...KEY, filename: `part${each}`, start: 1 });
    }
    const entries = [...caches.all.get(NAME)!.values()];
    const sizes = await Promise.all(entries.map(async (entry) => (await entry.blob()).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.equal(entries.length, 16);
    assert.ok(bytes <= 128 * MIB, `${bytes} bytes`);
  });

  it('have the type of their own version, also if another file has the same bytes', async () => {
    const server = serverWithHashes();
    const { cache } = openCache(server, { local: durable() });
    await cache.createSession(KEY);
    for (const mimeType of ['image/png', 'text/csv']) {
      const request = { ...KEY, filename: mimeType };
      await cache.artifacts.put({ ...request, data: bytesOf(5), mimeType });
      assert.equal((await cache.artifacts.open(request))?.type, mimeType);
    }
    await server.service.close();
  });

  for (const hasHash of [true, false]) {
    const fact = hasHash ? 'hash' : 'size';
    it(`are kept only with the ${fact} that is known of them, as a number comes again`, async () => {
      const server = hasHash ? serverWithHashes() : serverWithFiles();
      const { cache } = openCache(server, { local: durable(), readTimeoutMs: 50 });
      const request = { ...KEY, filename };
      const first = bytesOf(5);
      const second = bytesOf(hasHash ? 5 : 6).reverse();
      await cache.createSession(KEY);
      await cache.artifacts.put({ ...request, data: first });
      // What is known is kept; a part of the bytes is not.
      await cache.artifacts.open({ ...request, start: 1 });
      await server.service.deleteSession(KEY);
      await server.service.createSession(KEY);
      await server.service.artifacts.put({ ...request, data: second });
      let goOn = (): void => undefined;
      const waiting = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
      server.intercept = ({ url }) =>
        url.endsWith('/metadata') ? waiting : Promise.resolve(undefined);
      assert.deepEqual(await bytesIn(await cache.artifacts.open(request)), [...second]);
      goOn();
      server.intercept = undefined;
      if (hasHash) {
        const other = { ...KEY, filename: 'other' };
        await server.service.artifacts.put({ ...other, data: first });
        assert.deepEqual(await bytesIn(await cache.artifacts.open(other)), [...first]);
        await server.service.close();
      } else {
        server.isOffline = true;
        await assert.rejects(cache.artifacts.open(request), failsWith('connection_lost'));
      }
    });
  }

  it('are asked for without the Cache API, or if the browser refuses it, or over memory', async () => {
    const server = serverWithFiles();
    await server.service.createSession(KEY);
    await server.service.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    const open = async (local?: LocalStore) => {
      const { cache } = openCache(server, local && { local });
      server.isOffline = false;
      assert.equal((await cache.artifacts.open({ ...KEY, filename }))?.size, 5);
      server.isOffline = true;
      const again = cache.artifacts.open({ ...KEY, filename });
      await assert.rejects(again, failsWith('connection_lost'));
    };
    await open();
    assert.equal(caches.all.size, 0);
    caches.isBroken = true;
    await open(durable());
    Reflect.deleteProperty(globalThis, 'caches');
    await open(durable());
  });

  it('wait for the session that was created here', async () => {
    const server = serverWithFiles();
    server.isOffline = true;
    const { cache } = openCache(server, { local: durable() });
    await cache.getOrCreateSession(KEY);
    const put = () => cache.artifacts.put({ ...KEY, filename, data: bytesOf(5) });
    await assert.rejects(put(), failsWith('connection_lost'));
    server.isOffline = false;
    assert.equal((await put()).version, 0);
  });
});
