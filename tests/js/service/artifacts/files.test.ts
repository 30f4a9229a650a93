import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';
import { type DeleteArtifactRequest, InMemoryArtifactService } from '@google/adk';
import { InMemorySessionService, openSessionService } from '../../../../js/index.js';
import { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { newFolder } from '../../../new_folder.js';
import { MapStorage } from '../map_storage.js';
import { fork } from '../../../../js/core/history/index.js';
import { chunksOf, CHUNK_BYTES, hashOf } from '../../../../js/stores/artifacts/file_bytes.js';
import { decidePut } from '../../../../js/stores/artifacts/file_versions.js';
import { FILE_STORES, LocalHome } from '../../../../js/stores/artifacts/local_home.js';
import { MemoryLocalStore } from '../../../../js/stores/cache/local_store/memory_local_store.js';
import { isFileName } from '../../../../js/stores/artifacts/artifact_names.js';
import { runs } from '../../../properties.js';
import { failsWith } from '../../fails_with.js';
import { FILE_BEHAVIOURS } from './behaviours.js';

describe('Files of an InMemorySessionService', () => {
  for (const [title, run] of FILE_BEHAVIOURS) {
    it(title, () => run(new InMemorySessionService({ artifacts: true })));
  }

  it('are erased by deleteSessionSync before it returns', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename: 'a', artifact: { text: 'a' } });
    service.deleteSessionSync(key);
    service.createSessionSync(key);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
  });

  it('in a folder are erased by deleteSessionSync, also before the first call', async () => {
    const artifacts = { folder: newFolder() };
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    const earlier = new InMemorySessionService({ artifacts });
    await earlier.createSession(key);
    await earlier.artifacts.saveArtifact({ ...key, filename: 'a', artifact: { text: 'a' } });
    await earlier.close();
    const service = new InMemorySessionService({ artifacts });
    await service.createSession(key);
    service.deleteSessionSync(key);
    service.createSessionSync(key);
    await service.artifacts.saveArtifact({ ...key, filename: 'b', artifact: { text: 'b' } });
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), ['b']);
  });

  it('that deleteSessionSync cannot erase are erased by the next call, or it says why not', async () => {
    let failures = 0;
    class Failing extends InMemoryArtifactService {
      override deleteArtifact(request: DeleteArtifactRequest): Promise<void> {
        if (failures === 0) return super.deleteArtifact(request);
        failures -= 1;
        return Promise.reject(new Error('the disk is full'));
      }
    }
    const service = new InMemorySessionService({ artifacts: new Failing() });
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename: 'a', artifact: { text: 'a' } });
    failures = 2;
    service.deleteSessionSync(key);
    service.createSessionSync(key);
    // An unhandled rejection would end the process now.
    await new Promise((resolve) => setTimeout(resolve, 5));
    await assert.rejects(service.artifacts.listArtifactKeys(key), /the disk is full/);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
  });

  it('need the option artifacts', () => {
    assert.throws(() => new InMemorySessionService().artifacts, {
      code: 'artifact_service_missing',
    });
    for (const artifacts of [
      null,
      'folder',
      {},
      { folder: '' },
      { loadArtifact: () => undefined },
    ]) {
      const options = { artifacts } as unknown as { artifacts: true };
      assert.throws(() => new InMemorySessionService(options), {
        code: 'invalid_argument',
        key: 'artifacts',
      });
    }
  });

  it('over a storage of your own and over Vertex AI are in a folder, or in a service that is given', async () => {
    const refused = { code: 'invalid_argument', key: 'artifacts' };
    const storage = new MapStorage();
    await assert.rejects(openSessionService({ storage, artifacts: true }), refused);
    const vertex = { agentEngineId: '7', accessToken: () => 'token', artifacts: true } as const;
    assert.throws(() => new VertexAiSessionService(vertex), refused);
    for (const artifacts of [{ folder: newFolder() }, new InMemoryArtifactService()]) {
      const service = await openSessionService({ storage: new MapStorage(), artifacts });
      const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
      await service.createSession(key);
      await service.artifacts.put({ ...key, filename: 'a', data: new Uint8Array(3) });
      assert.equal((await service.artifacts.open({ ...key, filename: 'a' }))?.size, 3);
      await service.deleteSession(key);
      await service.createSession(key);
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
      await service.close();
    }
  });

  it('are refused once the service is closed', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const { artifacts } = service;
    await service.close();
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await assert.rejects(artifacts.listArtifactKeys(key), failsWith('closed'));
  });

  it('of a session that a deletion takes during the put are taken back', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await service.createSession(key);
    async function* slowly() {
      yield new Uint8Array(3);
      await service.deleteSession(key);
      yield new Uint8Array(3);
    }
    await assert.rejects(
      service.artifacts.put({ ...key, filename: 'a', data: slowly() }),
      failsWith('not_found'),
    );
    await service.createSession(key);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
  });

  it('of a fork that cannot be made leave nothing', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    await service.createSession(key);
    await service.artifacts.put({ ...key, filename: 'a', data: new Uint8Array(3) });
    const request = { ...key, newSessionId: 's2', at: { eventId: 'none' } };
    await assert.rejects(fork(service, request), failsWith('not_found'));
    await service.createSession({ ...key, sessionId: 's2' });
    assert.deepEqual(await service.artifacts.listArtifactKeys({ ...key, sessionId: 's2' }), []);
  });
});

describe('A deleted file in memory', () => {
  it('leaves a number, and nothing that its writer said of it', async () => {
    const local = new MemoryLocalStore(FILE_STORES);
    const home = new LocalHome(local, undefined);
    const place = { owner: { appName: 'shop', userId: 'ada', sessionId: 's1' }, name: 'a' };
    const facts = { author: 'user', customMetadata: { secret: true } };
    await home.put(place, { data: new Blob(['abc']), facts, createTime: 1 });
    await home.delete(place);
    const all = { from: ['shop'], to: ['shop\0'] };
    const [files, bytes] = await local.transaction('readonly', (transaction) =>
      Promise.all([transaction.list('files', all), transaction.list('bytes', all)]),
    );
    const [tombstone] = files as { version: number; facts: object; size: number }[];
    assert.deepEqual([tombstone?.version, tombstone?.facts, tombstone?.size], [0, {}, 0]);
    assert.deepEqual(bytes, []);
  });
});

describe('A put that is taken back', () => {
  it('leaves the file of a later session that has its number', async () => {
    const home = new LocalHome(new MemoryLocalStore(FILE_STORES), undefined);
    const place = { owner: { appName: 'shop', userId: 'ada', sessionId: 's1' }, name: 'a' };
    const [data, facts] = [new Blob(['abc']), {}];
    await home.put(place, { data, facts, createTime: 1, created: 1 });
    await home.erase({ ...place.owner, created: 1 });
    const { version } = await home.put(place, { data, facts, createTime: 1, created: 2 });
    assert.equal(version, 0);
    await home.takeBack(place, version, 1);
    assert.equal((await home.versions(place)).length, 1);
    await home.takeBack(place, version, 2);
    assert.equal((await home.versions(place)).length, 0);
  });
});

describe('The rules of files', () => {
  it('names that are allowed stay themselves in a path', () => {
    const part = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      ' ',
      '',
      'versions',
      'é',
      'metadata.json',
      'x.y',
    );
    const name = fc.oneof(
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join('/')),
      fc.string({ maxLength: 8, unit: 'binary' }),
    );
    fc.assert(
      fc.property(name, (name) => {
        if (!isFileName(name)) return;
        const url = new URL(`file:///root/${name.split('/').map(encodeURIComponent).join('/')}`);
        assert.equal(decodeURIComponent(url.pathname), `/root/${name}`);
        assert.equal(name.trim(), name);
      }),
      runs(2000),
    );
  });

  it('no number is decided on twice, and a repetition gets the number of its put', () => {
    const put = fc.record({ id: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(put, fc.constant('delete' as const))), (steps) => {
        let known: { version: number; facts: { id: string | undefined }; isDeleted: boolean }[] =
          [];
        const given = new Set<number>();
        for (const step of steps) {
          if (step === 'delete') {
            known = known.slice(-1).map((last) => ({ ...last, isDeleted: true }));
            continue;
          }
          const { version, stored } = decidePut(known, { facts: step });
          assert.equal(given.has(version), stored !== undefined);
          given.add(version);
          if (stored !== undefined) assert.equal(stored.facts.id, step.id);
          else known = [...known, { version, facts: step, isDeleted: false }];
        }
      }),
      runs(300),
    );
  });

  it('the hash of a file depends on its bytes, and not on how they came', async () => {
    const bytes = new Uint8Array(2 * CHUNK_BYTES + 5).map((_, at) => at * 7);
    const hash = await hashOf(new Blob([bytes]), 'a');
    assert.match(hash ?? '', /^[0-9a-f]{64}$/);
    async function* parts() {
      for (let at = 0; at < bytes.length; at += 700_001) yield bytes.slice(at, at + 700_001);
      await Promise.resolve();
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of chunksOf(parts(), 'a')) chunks.push(chunk);
    assert.deepEqual(
      chunks.map(({ length }) => length),
      [CHUNK_BYTES, CHUNK_BYTES, 5],
    );
    assert.equal(await hashOf(new Blob(chunks), 'a'), hash);
    bytes[CHUNK_BYTES + 3]! ^= 1;
    assert.notEqual(await hashOf(new Blob([bytes]), 'a'), hash);
  });
});
