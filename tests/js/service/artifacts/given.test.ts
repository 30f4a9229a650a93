// Files in an artifact service that the user gives.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type ArtifactVersion,
  type LoadArtifactRequest,
  InMemoryArtifactService,
  type ListVersionsRequest,
  type SaveArtifactRequest,
} from '@google/adk';
import { fork } from '../../../../js/core/history/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { exportSessions, importSessions } from '../../../../js/service/files/index.js';
import { failsWith } from '../../fails_with.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const filename = 'a.txt';
const BINARY = 'application/octet-stream';

/**
 * Answers as `@google/adk`'s `GcsArtifactService` does: values of metadata are texts, and a version tells its content type,
 * which is `text/plain` for a text.
 */
class BucketService extends InMemoryArtifactService {
  listings = 0;

  override saveArtifact(request: SaveArtifactRequest): Promise<number> {
    const values = Object.values(request.customMetadata ?? {});
    if (values.every((value) => typeof value === 'string')) return super.saveArtifact(request);
    return Promise.reject(new Error('Metadata values must be strings.'));
  }

  override async listArtifactVersions(request: ListVersionsRequest): Promise<ArtifactVersion[]> {
    this.listings += 1;
    const versions = await this.listVersions(request);
    const all = versions.map((version) => this.getArtifactVersion({ ...request, version }));
    return (await Promise.all(all)).filter((version) => version !== undefined);
  }

  override async getArtifactVersion(
    request: LoadArtifactRequest,
  ): Promise<ArtifactVersion | undefined> {
    const stored = await super.getArtifactVersion(request);
    const mimeType = (await super.loadArtifact(request))?.inlineData?.mimeType ?? 'text/plain';
    return stored && { ...stored, mimeType };
  }
}

async function opened() {
  const given = new BucketService();
  const service = new InMemorySessionService({ artifacts: given });
  await service.createSession(key);
  return { given, service, artifacts: service.artifacts };
}

describe('A given artifact service', () => {
  it('keeps the facts of a file if values of its metadata are texts', async () => {
    const { artifacts } = await opened();
    const facts = { mimeType: 'text/csv', author: 'user', customMetadata: { pages: '3' } };
    const data = new Blob(['a,b']);
    const put = () => artifacts.put({ ...key, filename, data, ...facts, id: 'x' });
    assert.equal((await put()).version, 0);
    assert.deepEqual(await put(), { version: 0, size: 3, ...facts });
    assert.deepEqual(await artifacts.listArtifactVersions({ ...key, filename }), [
      { version: 0, size: 3, ...facts },
    ]);
  });

  it('has facts from an object too, and none from a text that others have written', async () => {
    const given = new InMemoryArtifactService();
    const service = new InMemorySessionService({ artifacts: given });
    await service.createSession(key);
    const customMetadata = { adk_session_wasm: { author: 'user', size: 1 } };
    await given.saveArtifact({ ...key, filename, artifact: { text: 'a' }, customMetadata });
    const [version] = await service.artifacts.listArtifactVersions({ ...key, filename });
    assert.deepEqual([version?.author, version?.size], ['user', 1]);
    for (const adk_session_wasm of ['{', 'null', '[1]', '{"author":1,"size":-0.5}']) {
      const artifact = { text: 'a' };
      await given.saveArtifact({
        ...key,
        filename,
        artifact,
        customMetadata: { adk_session_wasm },
      });
      const last = await service.artifacts.getArtifactVersion({ ...key, filename });
      assert.deepEqual([last?.author, last?.size], [undefined, undefined]);
    }
  });

  it('returns a text as a text, whoever has saved it', async () => {
    const { given, artifacts } = await opened();
    const artifact = { text: 'ä' };
    await artifacts.saveArtifact({ ...key, filename, artifact });
    await given.saveArtifact({ ...key, filename, artifact });
    const inline = { inlineData: { mimeType: 'text/plain', data: 'w6Q=' } };
    await artifacts.saveArtifact({ ...key, filename, artifact: inline });
    await given.saveArtifact({ ...key, filename, artifact: inline });
    const load = (version: number) => artifacts.loadArtifact({ ...key, filename, version });
    assert.deepEqual(await Promise.all([0, 1, 2, 3].map(load)), [
      ...[artifact, artifact, inline, inline],
    ]);
    const versions = await artifacts.listArtifactVersions({ ...key, filename });
    assert.ok(versions.every(({ mimeType }) => mimeType === 'text/plain'));
    assert.equal((await artifacts.open({ ...key, filename }))?.type, 'text/plain');
  });

  it('opens a file of any type that another program has stored, and copies it', async () => {
    for (const mimeType of ['a\r\nb: c', 'ä'.repeat(200)]) {
      const { given, service, artifacts } = await opened();
      const artifact = { inlineData: { mimeType, data: 'AAEC' } };
      await given.saveArtifact({ ...key, filename, artifact });
      const blob = await artifacts.open({ ...key, filename });
      assert.deepEqual([blob?.type, blob?.size], [BINARY, 3]);
      assert.deepEqual(await artifacts.loadArtifact({ ...key, filename }), artifact);
      const target = new InMemorySessionService({ artifacts: true });
      for await (const { error } of importSessions(target, exportSessions(service, key))) {
        assert.equal(error, undefined);
      }
      const version = await target.artifacts.getArtifactVersion({ ...key, filename });
      assert.equal(version?.mimeType, mimeType);
      assert.equal((await target.artifacts.open({ ...key, filename }))?.type, BINARY);
      const save = artifacts.saveArtifact({ ...key, filename, artifact });
      await assert.rejects(save, failsWith('invalid_argument', /mimeType/));
    }
  });

  it('has no file that a rewind of google-adk has taken away, for open and loadArtifact', async () => {
    const { given, artifacts } = await opened();
    const artifact = { inlineData: { mimeType: BINARY, data: '' } };
    for (const saving of [given, artifacts]) {
      await saving.saveArtifact({ ...key, filename, artifact });
      assert.equal(await artifacts.open({ ...key, filename }), undefined);
      assert.equal(await artifacts.open({ ...key, filename, start: 2, end: 5 }), undefined);
      assert.equal(await artifacts.loadArtifact({ ...key, filename }), undefined);
    }
  });

  it('returns a range of a file whose size it does not tell', async () => {
    const { given, artifacts } = await opened();
    const artifact = { inlineData: { mimeType: BINARY, data: 'AAECAw==' } };
    await given.saveArtifact({ ...key, filename, artifact });
    for (const [start, end, bytes] of [
      [0, undefined, [0, 1, 2, 3]],
      [1, 3, [1, 2]],
      [2, 9, [2, 3]],
      [4, 4, []],
    ] as const) {
      const blob = await artifacts.open({ ...key, filename, start, end });
      assert.equal(blob?.type, BINARY);
      assert.deepEqual([...new Uint8Array(await blob.arrayBuffer())], bytes);
    }
  });

  it('reads a file once for an export, and once for a range, whatever size the metadata tells', async () => {
    const { given, service, artifacts } = await opened();
    const size = 2 ** 20 + 3;
    await artifacts.put({ ...key, filename, data: new Uint8Array(size) });
    const artifact = { inlineData: { mimeType: BINARY, data: 'AAECAw==' } };
    const customMetadata = { adk_session_wasm: '{"size":1}' };
    await given.saveArtifact({ ...key, filename, artifact, customMetadata });
    let loads = 0;
    const load = given.loadArtifact.bind(given);
    given.loadArtifact = (request) => {
      loads += 1;
      return load(request);
    };
    const lines: string[] = [];
    for await (const line of exportSessions(service, { appName: 'shop' })) lines.push(line);
    assert.equal(lines.filter((line) => line.includes('"artifact"')).length, 3);
    assert.equal(loads, 2);
    assert.equal((await artifacts.open({ ...key, filename, start: 1 }))?.size, 3);
    assert.equal(loads, 3);
  });

  it('lists versions before a put only if the put has an id, and once', async () => {
    const { given, artifacts } = await opened();
    const put = (id?: string) =>
      artifacts.put({ ...key, filename, data: new Uint8Array(3), ...(id !== undefined && { id }) });
    await put();
    assert.equal(given.listings, 0);
    await put('x');
    assert.equal(given.listings, 1);
  });

  it('has all versions of the files of a fork, each once', async () => {
    const { service, artifacts } = await opened();
    const session = (await service.getSession(key))!;
    await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1' } });
    for (const text of ['a', 'b']) {
      await artifacts.saveArtifact({ ...key, filename, artifact: { text }, author: 'user' });
    }
    const request = { ...key, newSessionId: 's2', at: { eventId: 'e1' } };
    await fork(service, request);
    await fork(service, request);
    const versions = await artifacts.listArtifactVersions({ ...key, sessionId: 's2', filename });
    assert.deepEqual(
      versions.map(({ version, author }) => [version, author]),
      [
        [0, 'user'],
        [1, 'user'],
      ],
    );
  });
});
