// What the files of every service do that has a home of this package: `open`, `put`, `usage`, deletions and forks.

import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';

import { fork } from '../../../../js/core/history/index.js';
import type { SessionError } from '../../../../js/index.js';
import type { OpenedSessionService } from '../../../../js/service/open_session_service.js';
import { failsWith } from '../../fails_with.js';

const user = { appName: 'shop', userId: 'ada' };
const key = { ...user, sessionId: 's1' };
const filename = 'dir/a.bin';
const MIB = 2 ** 20;

/** Bytes that are the same nowhere else in a file. */
export function bytesOf(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, at) => (at * 31 + (at >> 8) * 17 + (at >> 16)) & 255);
}

async function bytesIn(blob: Blob | undefined): Promise<Uint8Array | undefined> {
  return blob && new Uint8Array(await blob.arrayBuffer());
}

/** A `File` as a class of another realm makes it: no instance of the class here. */
function foreignFile(bytes: readonly number[]): File {
  class File {
    readonly name = 'tea.png';
    readonly type = 'image/png';
    readonly #blob: Blob;
    constructor(blob: Blob) {
      this.#blob = blob;
    }
    get size(): number {
      return this.#blob.size;
    }
    readonly [Symbol.toStringTag] = 'File';
    slice(start: number, end: number): File {
      return new File(this.#blob.slice(start, end));
    }
    arrayBuffer(): Promise<ArrayBuffer> {
      return this.#blob.arrayBuffer();
    }
  }
  return new File(new Blob([new Uint8Array(bytes)])) as unknown as globalThis.File;
}

/** Each behaviour is given a service without sessions, and closes it. */
export const FILE_BEHAVIOURS: readonly (readonly [
  title: string,
  run: (service: OpenedSessionService) => Promise<void>,
])[] = [
  [
    'put takes a Blob, bytes and a stream, and open returns them, or a range',
    async (service) => {
      await service.createSession(key);
      const bytes = bytesOf(2 * MIB + 77);
      async function* parts() {
        for (let at = 0; at < bytes.length; at += 300_000) yield bytes.slice(at, at + 300_000);
        await Promise.resolve();
      }
      const all = [
        new Blob([bytes], { type: 'image/png' }),
        bytes,
        bytes.buffer,
        parts(),
        new Blob([bytes]).stream(),
      ];
      for (const [version, data] of all.entries()) {
        const put = await service.artifacts.put({ ...key, filename, data });
        assert.equal(put.version, version);
        assert.equal(put.size, bytes.length);
        assert.equal(put.mimeType, version === 0 ? 'image/png' : 'application/octet-stream');
        const request = { ...key, filename, version };
        const blob = await service.artifacts.open(request);
        assert.equal(blob?.type, put.mimeType);
        assert.deepEqual(await bytesIn(blob), bytes);
        for (const [start, end] of [
          [0, 1],
          [MIB - 1, MIB + 1],
          [2 * MIB, Infinity],
          [5, 5],
        ] as const) {
          const range = { start, ...(end !== Infinity && { end }) };
          const part = await service.artifacts.open({ ...request, ...range });
          assert.deepEqual(await bytesIn(part), bytes.slice(start, end));
        }
      }
      const empty = await service.artifacts.put({
        ...key,
        filename: 'e',
        data: new Blob([], { type: 'a/b' }),
      });
      assert.equal(empty.size, 0);
      assert.equal((await service.artifacts.open({ ...key, filename: 'e' }))?.size, 0);
      assert.equal(await service.artifacts.open({ ...key, filename: 'none' }), undefined);
      await service.close();
    },
  ],
  [
    'an empty file without a type is a text',
    async (service) => {
      await service.createSession(key);
      async function* nothing(): AsyncGenerator<Uint8Array> {
        await Promise.resolve();
        yield* [];
      }
      const all = [new Blob(), new Uint8Array(), nothing(), new Blob().stream()];
      for (const [version, data] of all.entries()) {
        const { mimeType } = await service.artifacts.put({ ...key, filename, data });
        assert.equal(mimeType, 'text/plain');
        const blob = await service.artifacts.open({ ...key, filename, version });
        assert.deepEqual([blob?.size, blob?.type], [0, 'text/plain']);
      }
      const typed = { filename: 'e', mimeType: 'application/octet-stream', data: nothing() };
      assert.equal((await service.artifacts.put({ ...key, ...typed })).mimeType, 'text/plain');
      assert.equal((await service.artifacts.open({ ...key, filename: 'e' }))?.size, 0);
      await service.close();
    },
  ],
  [
    'put takes a buffer, an array and a Blob of another realm',
    async (service) => {
      await service.createSession(key);
      const bytes = runInNewContext('new Uint8Array([1, 2, 3])') as Uint8Array<ArrayBuffer>;
      async function* parts() {
        yield await Promise.resolve(bytes);
      }
      for (const data of [bytes, bytes.buffer, parts(), foreignFile([1, 2, 3])]) {
        const { version, size } = await service.artifacts.put({ ...key, filename, data });
        assert.equal(size, 3);
        const stored = await bytesIn(await service.artifacts.open({ ...key, filename, version }));
        assert.deepEqual(stored, new Uint8Array([1, 2, 3]));
      }
      const [, , , last] = await service.artifacts.listArtifactVersions({ ...key, filename });
      assert.equal(last?.mimeType, 'image/png');
      await service.close();
    },
  ],
  [
    'put and saveArtifact take what a caller changes after the call',
    async (service) => {
      await service.createSession(key);
      const data = new Uint8Array([1, 2, 3]);
      const customMetadata = { tags: ['a'] };
      const artifact = { inlineData: { mimeType: 'image/png', data: 'AQID' } };
      const puts = [
        service.artifacts.put({ ...key, filename, data, customMetadata }),
        service.artifacts.saveArtifact({ ...key, filename: 'b', artifact, customMetadata }),
      ];
      data.fill(9);
      customMetadata.tags.push('b');
      artifact.inlineData.data = 'CQkJ';
      await Promise.all(puts);
      for (const name of [filename, 'b']) {
        const request = { ...key, filename: name };
        const bytes = await bytesIn(await service.artifacts.open(request));
        assert.deepEqual(bytes, new Uint8Array([1, 2, 3]));
        const stored = await service.artifacts.getArtifactVersion(request);
        assert.deepEqual(stored?.customMetadata, { tags: ['a'] });
      }
      await service.close();
    },
  ],
  [
    'a Blob that cannot be read is refused with the name of the file, and stores nothing',
    async (service) => {
      await service.createSession(key);
      const changed = new DOMException('The file was changed.', 'NotReadableError');
      const file = new File([bytesOf(MIB + 9)], 'tea.png');
      const slice = file.slice.bind(file);
      file.slice = (start, ...rest) => {
        const part = slice(start, ...rest);
        if (start !== 0) part.arrayBuffer = () => Promise.reject(changed);
        return part;
      };
      await assert.rejects(service.artifacts.put({ ...key, filename, data: file }), (error) => {
        const { code, message, cause } = error as SessionError;
        assert.deepEqual([code, cause], ['invalid_argument', changed]);
        assert.match(message, /"tea\.png" cannot be read/);
        return true;
      });
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
      await service.close();
    },
  ],
  [
    'put keeps who wrote a file, and what the writer says of it',
    async (service) => {
      await service.createSession(key);
      const facts = {
        mimeType: 'text/csv',
        author: 'user',
        displayName: 'Ä.csv',
        customMetadata: { a: [1] },
      };
      await service.artifacts.put({ ...key, filename, data: bytesOf(3), ...facts });
      const artifact = { text: 'by an agent' };
      await service.artifacts.saveArtifact({ ...key, filename, artifact, author: 'writer' });
      const [first, second] = await service.artifacts.listArtifactVersions({ ...key, filename });
      const { createTime, hash } = first!;
      assert.deepEqual(first, { version: 0, size: 3, ...facts, createTime, ...(hash && { hash }) });
      assert.ok(Math.abs(Date.now() - createTime!) < 60_000);
      assert.equal(second?.author, 'writer');
      await service.close();
    },
  ],
  [
    'put with the id of an earlier put stores nothing, also if both run at once',
    async (service) => {
      await service.createSession(key);
      const put = (id?: string) =>
        service.artifacts.put({
          ...key,
          filename,
          data: bytesOf(9),
          ...(id !== undefined && { id }),
        });
      const versions = await Promise.all([put('x'), put('x'), put('y'), put()]);
      const numbers = versions.map(({ version }) => version);
      assert.equal(numbers[0], numbers[1]);
      assert.deepEqual([...new Set(numbers)].sort(), [0, 1, 2]);
      assert.equal((await put('x')).version, numbers[0]);
      await service.close();
    },
  ],
  [
    'a stream that fails stores nothing',
    async (service) => {
      await service.createSession(key);
      async function* broken() {
        yield bytesOf(2 * MIB);
        await Promise.resolve();
        throw new Error('it broke off');
      }
      await assert.rejects(
        service.artifacts.put({ ...key, filename, data: broken() }),
        failsWith('invalid_argument', /broke off/),
      );
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
      assert.equal(
        (await service.artifacts.put({ ...key, filename, data: bytesOf(1) })).version,
        0,
      );
      await service.close();
    },
  ],
  [
    'usage counts the versions of a session, or of all sessions and of the user',
    async (service) => {
      for (const sessionId of ['s1', 's2']) await service.createSession({ ...key, sessionId });
      const put = (sessionId: string, filename: string, size: number) =>
        service.artifacts.put({ ...key, sessionId, filename, data: bytesOf(size) });
      await put('s1', 'a', 10);
      await put('s1', 'a', 20);
      await put('s2', 'b', 5);
      await put('s2', 'user:c', 7);
      assert.deepEqual(await service.artifacts.usage(key), { versions: 2, bytes: 30 });
      assert.deepEqual(await service.artifacts.usage(user), { versions: 4, bytes: 42 });
      await service.artifacts.deleteArtifact({ ...key, filename: 'a' });
      assert.deepEqual(await service.artifacts.usage(user), { versions: 2, bytes: 12 });
      assert.deepEqual(await service.artifacts.usage({ ...user, userId: 'eve' }), {
        versions: 0,
        bytes: 0,
      });
      await service.close();
    },
  ],
  [
    'deleteSession, deleteSessions and deleteUser erase files',
    async (service) => {
      const sessions = ['s1', 's2', 's3'].map((sessionId) => ({ ...key, sessionId }));
      for (const each of sessions) {
        await service.createSession(each);
        await service.artifacts.put({ ...each, filename, data: bytesOf(10) });
      }
      await service.artifacts.put({ ...key, filename: 'user:a', data: bytesOf(10) });
      const versions = async () => (await service.artifacts.usage(user)).versions;
      await service.deleteSession(key);
      assert.equal(await versions(), 3);
      await service.createSession(key);
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), ['user:a']);
      await service.deleteSessions({ ...user, olderThan: Date.now() + 60_000 });
      assert.equal(await versions(), 1);
      await service.createSession(key);
      await service.artifacts.put({ ...key, filename, data: bytesOf(10) });
      await service.deleteUser(user);
      assert.equal(await versions(), 0);
      await service.close();
    },
  ],
  [
    'a put whose bytes come slowly holds up no other put of its file',
    async (service) => {
      await service.createSession(key);
      let finish = (): void => undefined;
      const rest = new Promise<void>((resolve) => (finish = resolve));
      async function* slow() {
        yield bytesOf(10);
        await rest;
      }
      const first = service.artifacts.put({ ...key, filename, data: slow() });
      const second = await service.artifacts.put({ ...key, filename, data: bytesOf(20) });
      finish();
      assert.deepEqual([second.version, (await first).version], [0, 1]);
      assert.equal((await service.artifacts.open({ ...key, filename }))?.size, 10);
      await service.close();
    },
  ],
  [
    'a fork has all versions of the files of its session under their numbers, and none of the user is copied',
    async (service) => {
      const session = await service.createSession(key);
      await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
      for (const size of [10, 20])
        await service.artifacts.put({ ...key, filename, data: bytesOf(size) });
      await service.artifacts.put({ ...key, filename: 'gone', data: bytesOf(5) });
      await service.artifacts.deleteArtifact({ ...key, filename: 'gone' });
      await service.artifacts.put({ ...key, filename: 'user:a', data: bytesOf(5) });
      const request = { ...key, newSessionId: 's2', at: { eventId: 'e1' } };
      await fork(service, request);
      const forked = { ...key, sessionId: 's2' };
      assert.deepEqual(await service.artifacts.listArtifactKeys(forked), [filename, 'user:a']);
      const blob = await service.artifacts.open({ ...forked, filename, version: 1 });
      assert.deepEqual(await bytesIn(blob), bytesOf(20));
      assert.deepEqual(await service.artifacts.listVersions({ ...key, filename: 'user:a' }), [0]);
      await service.artifacts.put({ ...forked, filename, data: bytesOf(1) });
      assert.deepEqual(await service.artifacts.listVersions({ ...key, filename }), [0, 1]);
      // Again, it is the fork that there is.
      await fork(service, request);
      assert.deepEqual(await service.artifacts.listVersions({ ...forked, filename }), [0, 1, 2]);
      await service.deleteSession(key);
      assert.equal((await service.artifacts.open({ ...forked, filename, version: 0 }))?.size, 10);
      await service.close();
    },
  ],
  [
    'a fork whose id another session has does not touch the files of that session',
    async (service) => {
      const session = await service.createSession(key);
      await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
      await service.artifacts.put({ ...key, filename, data: bytesOf(5) });
      const other = { ...key, sessionId: 's2' };
      await service.createSession(other);
      await service.artifacts.put({ ...other, filename: 'own', data: bytesOf(5) });
      const request = { ...key, newSessionId: 's2', at: { eventId: 'e1' } };
      await assert.rejects(fork(service, request), failsWith('already_exists'));
      assert.deepEqual(await service.artifacts.listArtifactKeys(other), ['own']);
      await service.close();
    },
  ],
];
