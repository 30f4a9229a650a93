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
import { pathToFileURL } from 'node:url';

import { InMemorySessionService } from '../../../../js/index.js';
import { FolderHome } from '../../../../js/stores/artifacts/folder_home.js';
import { newFolder } from '../../../new_folder.js';
import { failsWith } from '../../fails_with.js';
import { FILE_BEHAVIOURS } from '../../service/artifacts/behaviours.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const filename = 'dir/a.txt';
const artifact = { text: 'tea' };

type FileKey = typeof key & { filename: string };

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
      canonicalUri: pathToFileURL(join(version, 'a.txt')).href,
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

  it('refuses an id of 256 to 512 bytes, and names no path', async () => {
    const folder = newFolder();
    const service = over(folder);
    for (const [id, length] of [
      ['sessionId', 256],
      ['userId', 400],
      ['appName', 512],
    ] as const) {
      const other = { ...key, [id]: 'i'.repeat(length) };
      await service.createSession(other);
      const put = service.artifacts.put({ ...other, filename, data: new Uint8Array(3) });
      await assert.rejects(put, (error: Error) => {
        failsWith('invalid_argument', /255 bytes/)(error);
        assert.ok(!error.message.includes(folder));
        return true;
      });
      assert.deepEqual(await service.artifacts.listArtifactKeys(other), []);
      await service.deleteSession(other);
    }
    await service.close();
  });

  it('does not mix files whose names differ in case, or in how accents are written', async () => {
    const service = over(newFolder());
    const pairs = [
      [{ userId: 'Ada' }, { userId: 'ada' }],
      [{ filename: 'A.txt' }, { filename: 'a.txt' }],
      [{ filename: 'caf\u00e9' }, { filename: 'cafe\u0301' }],
    ].map((pair) => pair.map((other) => ({ ...key, filename, ...other })));
    for (const [one, other] of pairs as [FileKey, FileKey][]) {
      for (const each of [one, other]) await service.getOrCreateSession(each);
      await service.artifacts.saveArtifact({ ...one, artifact: { text: 'one' } });
      // A file system that does not tell them apart, as on macOS and Windows, refuses the other one.
      const second = { ...other, artifact: { text: 'other' } };
      const version = await service.artifacts.saveArtifact(second).catch((error: unknown) => {
        failsWith('invalid_argument')(error);
        return undefined;
      });
      const loaded = [
        await service.artifacts.loadArtifact(one),
        await service.artifacts.loadArtifact(other),
      ];
      assert.deepEqual(loaded, [{ text: 'one' }, version === 0 ? { text: 'other' } : undefined]);
    }
    await service.close();
  });

  it('spares the files of a session that is created while an earlier one with its id is erased', async () => {
    const home = new FolderHome(newFolder());
    const place = { owner: key, name: 'a' };
    const data = new Blob(['abc']);
    await home.put(place, { data, facts: {}, createTime: 1, created: 1 });
    await home.put(place, { data, facts: {}, createTime: 1, created: 2 });
    await home.erase({ ...key, created: 1 });
    assert.deepEqual(
      (await home.versions(place)).map(({ version }) => version),
      [1],
    );
    await home.takeBack(place, 1, 1);
    assert.deepEqual(await home.names(key), ['a']);
    await home.takeBack(place, 1, 2);
    assert.deepEqual(await home.names(key), []);
  });

  it('deletes a session while files are put into it, in 50 rounds', async () => {
    const service = over(newFolder());
    for (let round = 0; round < 50; round += 1) {
      await service.createSession(key);
      const puts = ['a', 'a/b', 'c'].map((name) =>
        service.artifacts.put({ ...key, filename: name, data: new Uint8Array(3) }),
      );
      const outcomes = await Promise.allSettled([...puts, service.deleteSession(key)]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') failsWith('not_found')(outcome.reason);
      }
      assert.equal(outcomes[3]?.status, 'fulfilled');
      await service.createSession(key);
      assert.deepEqual(await service.artifacts.listArtifactKeys(key), []);
      await service.deleteSession(key);
    }
    await service.close();
  });

  it('deletes a file while it is put, in 50 rounds', async () => {
    const service = over(newFolder());
    await service.createSession(key);
    for (let round = 0; round < 50; round += 1) {
      const put = () => service.artifacts.put({ ...key, filename, data: new Uint8Array(3) });
      const remove = () => service.artifacts.deleteArtifact({ ...key, filename });
      await Promise.all([put(), remove(), put(), remove(), put()]);
    }
    await service.close();
  });
});
