import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { newFolder } from '../../new_folder.js';
import { failsWith } from '../fails_with.js';
import { FILE_BEHAVIOURS } from '../service/artifacts/behaviours.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const filename = 'dir/a.txt';
const artifact = { text: 'tea' };

const over = (folder: string) => new InMemorySessionService({ artifacts: { folder } });

describe('A folder of files', () => {
  for (const [title, run] of FILE_BEHAVIOURS) it(title, () => run(over(newFolder())));

  it('is the tree of google-adk', async () => {
    const folder = newFolder();
    const service = over(folder);
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename, artifact });
    await service.artifacts.saveArtifact({ ...key, filename: 'user:b', artifact });
    const ofUser = join(folder, 'apps/shop/users/ada');
    const version = join(ofUser, 'sessions/s1/artifacts/dir/a.txt/versions/0');
    assert.deepEqual(readdirSync(version).sort(), ['a.txt', 'metadata.json']);
    assert.ok(existsSync(join(ofUser, 'artifacts/b/versions/0/b')));
    const text = readFileSync(join(version, 'metadata.json'), 'utf8');
    const { createTime, customMetadata, ...metadata } = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual(metadata, {
      version: 0,
      canonicalUri: new URL(`file://${version}/a.txt`).href,
      fileName: filename,
    });
    assert.ok(Math.abs(Number(createTime) - Date.now() / 1000) < 60);
    assert.deepEqual(Object.keys(Object(customMetadata) as object), ['adk_session_wasm']);
    await service.artifacts.deleteArtifact({ ...key, filename });
    assert.deepEqual(readdirSync(ofUser), ['artifacts', 'sessions']);
    await service.close();
  });

  it('refuses an id whose folder would be that of another one', async () => {
    const service = over(newFolder());
    for (const other of [{ sessionId: 's1/' }, { sessionId: 's1/.' }, { userId: 'ada/.' }]) {
      await service.createSession({ ...key, ...other });
      const put = () => service.artifacts.saveArtifact({ ...key, ...other, filename, artifact });
      await assert.rejects(put, failsWith('invalid_argument'));
    }
    await service.close();
  });

  it('opens no file that only the metadata names', async () => {
    const folder = newFolder();
    const service = over(folder);
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename: 'a', artifact });
    const version = join(folder, 'apps/shop/users/ada/sessions/s1/artifacts/a/versions/0');
    const secret = join(newFolder(), 'secret');
    writeFileSync(secret, 'secret');
    const metadata = { version: 0, canonicalUri: `file://${secret}`, fileName: '../../x' };
    writeFileSync(join(version, 'metadata.json'), JSON.stringify(metadata));
    assert.deepEqual(await service.artifacts.loadArtifact({ ...key, filename: 'a' }), artifact);
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), ['a']);
    await service.close();
  });

  it('keeps no bytes of a put that fails, and takes a hash only if it is one', async () => {
    const folder = newFolder();
    const service = over(folder);
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename: 'a', artifact });
    async function* broken() {
      yield new Uint8Array(10);
      await Promise.reject(new Error('broken'));
    }
    const put = service.artifacts.put({ ...key, filename: 'a', data: broken() });
    await assert.rejects(put, /broken/);
    const versions = join(folder, 'apps/shop/users/ada/sessions/s1/artifacts/a/versions');
    assert.deepEqual(readdirSync(versions), ['0']);
    assert.deepEqual(readdirSync(join(folder, '.puts')), []);
    const hashOf = async () =>
      (await service.artifacts.getArtifactVersion({ ...key, filename: 'a' }))?.hash;
    assert.match((await hashOf())!, /^[\da-f]{64}$/);
    for (const hash of ['a"\r\nb: c', 'A'.repeat(64), `${'a'.repeat(64)}\n`]) {
      const metadata = { customMetadata: { adk_session_wasm: { hash } } };
      writeFileSync(join(versions, '0/metadata.json'), JSON.stringify(metadata));
      assert.equal(await hashOf(), undefined);
    }
    await service.close();
  });

  it('stores a put whose file is deleted while its bytes come', async () => {
    const service = over(newFolder());
    await service.createSession(key);
    await service.artifacts.saveArtifact({ ...key, filename, artifact });
    async function* slow() {
      yield new Uint8Array(10);
      await service.artifacts.deleteArtifact({ ...key, filename });
    }
    const { version } = await service.artifacts.put({ ...key, filename, data: slow() });
    assert.equal((await service.artifacts.open({ ...key, filename, version }))?.size, 10);
    await service.close();
  });

  it('removes the bytes that a killed program has left a day ago', async () => {
    const folder = newFolder();
    const service = over(folder);
    await service.createSession(key);
    const [old, recent] = ['put-old', 'put-recent'].map((name) => join(folder, '.puts', name));
    for (const left of [old!, recent!]) {
      mkdirSync(left, { recursive: true });
      writeFileSync(join(left, 'a'), 'half');
    }
    const time = new Date(Date.now() - 25 * 60 * 60 * 1000);
    utimesSync(old!, time, time);
    await service.artifacts.saveArtifact({ ...key, filename, artifact });
    assert.deepEqual(readdirSync(join(folder, '.puts')), ['put-recent']);
    await service.close();
  });

  it('skips a number that a killed program has reserved', async () => {
    const folder = newFolder();
    const service = over(folder);
    await service.createSession(key);
    mkdirSync(join(folder, 'apps/shop/users/ada/sessions/s1/artifacts/a/versions/.0.pending'), {
      recursive: true,
    });
    assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
    assert.equal(await service.artifacts.saveArtifact({ ...key, filename: 'a', artifact }), 1);
    await service.close();
  });

  it('takes ids as google-adk does, and a session with another id has no files', async () => {
    const service = over(newFolder());
    for (const sessionId of ['../x', 'a/../b', '/a', 'C:a', '.', 'a/sessions/b', '\\a', 'a\0']) {
      const other = { ...key, sessionId };
      await service.createSession(other);
      const refused = failsWith('invalid_argument', /google-adk/);
      await assert.rejects(
        service.artifacts.saveArtifact({ ...other, filename, artifact }),
        refused,
      );
      assert.deepEqual(await service.artifacts.listArtifactKeys(other), []);
      await service.deleteSession(other);
    }
    const [outer, inner] = ['a', 'a/b'].map((userId) => ({ ...key, userId })) as [
      typeof key,
      typeof key,
    ];
    for (const each of [outer, inner]) {
      await service.createSession(each);
      await service.artifacts.saveArtifact({ ...each, filename: 'user:f', artifact });
    }
    await service.deleteUser(outer);
    assert.deepEqual(await service.artifacts.listArtifactKeys(outer), []);
    assert.deepEqual(await service.artifacts.listArtifactKeys(inner), ['user:f']);
    await service.close();
  });
});
