// Names that a file system takes for one another, or that it does not take.

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { coreOf } from '../../../../js/core/core_of.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { Artifacts } from '../../../../js/service/artifacts/artifacts.js';
import type { ServiceCore } from '../../../../js/service/service_core.js';
import { FolderHome } from '../../../../js/stores/artifacts/folder_home.js';
import { FolderPaths } from '../../../../js/stores/artifacts/folder_paths.js';
import { type Node, nodeModules } from '../../../../js/stores/artifacts/node_files.js';
import { newFolder } from '../../../new_folder.js';
import { failsWith } from '../../fails_with.js';
import { byAccents, byCaseAndAccents, decomposed, insensitiveFiles } from './insensitive_files.js';

const key = { appName: 'shop', userId: 'Ada', sessionId: 's1' };
const filename = 'A.txt';
const refused = failsWith('invalid_argument', /takes for another one/);

/** Opens sessions in memory with files in a folder. */
function open(node: Node, folder: string) {
  const service = new InMemorySessionService();
  const core = coreOf<ServiceCore>(service as never);
  const artifacts = new Artifacts(new FolderHome(folder, node), core);
  return {
    service,
    artifacts,
    async save(changed: Partial<typeof key & { filename: string }>, text = 'tea') {
      const request = { ...key, filename, ...changed };
      await service.getOrCreateSession(request);
      return artifacts.saveArtifact({ ...request, artifact: { text } }, {});
    },
    load: (changed: Partial<typeof key & { filename: string }>) =>
      artifacts.loadArtifact({ ...key, filename, ...changed }, {}),
    remove: (what: 'session' | 'user', changed: Partial<typeof key>) => {
      const { sessionId, ...user } = { ...key, ...changed };
      const write = { kind: 'delete', what, key: what === 'user' ? user : { ...user, sessionId } };
      return artifacts.during(write as never, {}, () =>
        what === 'user' ? service.deleteUser(user) : service.deleteSession({ ...user, sessionId }),
      );
    },
  };
}

function openInsensitive(form = byCaseAndAccents) {
  const folder = newFolder();
  return open(insensitiveFiles(folder, form), folder);
}

describe('A folder on a file system that does not tell names apart', () => {
  for (const [what, changed] of [
    ['a user', { userId: 'ada' }],
    ['a session', { sessionId: 'S1' }],
    ['an app', { appName: 'SHOP' }],
    ['a file', { filename: 'a.TXT' }],
  ] as const) {
    it(`refuses a put of ${what} whose name would be another's, and shows it nothing`, async () => {
      const { save, load } = openInsensitive();
      assert.equal(await save({}), 0);
      await assert.rejects(save(changed, 'other'), refused);
      assert.deepEqual([await load({}), await load(changed)], [{ text: 'tea' }, undefined]);
      assert.equal(await save({}), 1);
    });
  }

  it('refuses a name whose accents are written in another way', async () => {
    for (const form of [byCaseAndAccents, byAccents]) {
      const { save, load } = openInsensitive(form);
      const [composed, decomposed] = [{ userId: 'Zo\u00e9' }, { userId: 'Zoe\u0301' }];
      await save(composed);
      await assert.rejects(save(decomposed), refused);
      assert.deepEqual(await load(composed), { text: 'tea' });
    }
  });

  it('takes names that only differ in case if the file system knows it', async () => {
    const folder = newFolder();
    const { save, load } = open(insensitiveFiles(folder, byAccents), folder);
    await save({});
    const other = { userId: 'ada' };
    // On macOS and Windows it does not know it below this one either.
    if (existsSync(join(folder, 'APPS'))) await assert.rejects(save(other, 'other'), refused);
    else assert.equal(await save(other, 'other'), 0);
    assert.deepEqual(await load({}), { text: 'tea' });
  });

  it('two puts at once of names that are one there: the second is refused', async () => {
    const { save } = openInsensitive();
    const outcomes = await Promise.allSettled([save({}), save({ userId: 'ada' })]);
    const [stored, ...others] = outcomes.toSorted((one, other) =>
      one.status < other.status ? -1 : 1,
    );
    assert.equal(stored?.status, 'fulfilled');
    assert.equal(others[0]?.status, 'rejected');
    refused(others[0].reason);
  });

  it('refuses a deletion that would erase the files of another name, before anything is deleted', async () => {
    const { service, artifacts, save, load, remove } = openInsensitive();
    await save({});
    await save({ filename: 'user:b' });
    const other = { ...key, userId: 'ada' };
    await service.createSession(other);
    await assert.rejects(remove('session', { userId: 'ada' }), refused);
    await assert.rejects(remove('user', { userId: 'ada' }), refused);
    assert.ok(await service.getSession(other));
    await assert.rejects(artifacts.deleteArtifact({ ...key, filename: 'a.txt' }, {}), refused);
    assert.deepEqual(await load({}), { text: 'tea' });
    assert.deepEqual(await artifacts.listArtifactKeys(other, {}), []);
    const { appName, userId } = other;
    assert.deepEqual(await artifacts.usage({ appName, userId }, {}), { versions: 0, bytes: 0 });
    artifacts.eraseNow(other);
    assert.deepEqual(await artifacts.listArtifactKeys(key, {}), [filename, 'user:b']);
    await remove('user', {});
    assert.deepEqual(await artifacts.listArtifactKeys(key, {}), []);
    await remove('session', { userId: 'ada' });
    assert.equal(await service.getSession(other), undefined);
  });

  it('has the files of a name with accents, also if it writes accents in its own way', async () => {
    const folder = newFolder();
    const node = insensitiveFiles(folder, byCaseAndAccents, decomposed);
    const accented = { userId: 'Zo\u00e9', filename: 'caf\u00e9' };
    const { save, load } = open(node, folder);
    assert.equal(await save(accented), 0);
    assert.equal(await save(accented), 1);
    assert.deepEqual(await load(accented), { text: 'tea' });
    await assert.rejects(save({ ...accented, userId: 'ZO\u00e9' }), refused);
    const again = open(node, folder);
    await again.service.createSession({ ...key, ...accented });
    assert.deepEqual(await again.load(accented), { text: 'tea' });
  });

  it('does not mix names whose accents are written in two ways, whichever is there', async () => {
    const { save, load } = openInsensitive();
    const [composed, decomposed] = [{ userId: 'Zo\u00e9' }, { userId: 'Zoe\u0301' }];
    await save(decomposed);
    await assert.rejects(save(composed), refused);
    assert.equal(await load(composed), undefined);
  });

  it('is read without a write', async () => {
    const [written, folder] = [newFolder(), newFolder()];
    const { save } = open(insensitiveFiles(written, byCaseAndAccents), written);
    await save({ filename: 'caf\u00e9' });
    cpSync(join(written, 'apps'), join(folder, 'apps'), { recursive: true });
    const { service, artifacts, load } = open(insensitiveFiles(folder, byCaseAndAccents), folder);
    for (const userId of ['Ada', 'ada']) await service.createSession({ ...key, userId });
    const { appName, userId } = key;
    assert.deepEqual(await load({ filename: 'caf\u00e9' }), { text: 'tea' });
    assert.deepEqual(await artifacts.listArtifactKeys(key, {}), ['caf\u00e9']);
    assert.equal((await artifacts.usage({ appName, userId }, {})).versions, 1);
    assert.deepEqual(await artifacts.listArtifactKeys({ ...key, userId: 'ada' }, {}), []);
    assert.deepEqual(readdirSync(folder), ['apps']);
  });

  it('leaves nothing of the probe', async () => {
    const folder = newFolder();
    const { save } = open(insensitiveFiles(folder, byCaseAndAccents), folder);
    await save({ filename: 'caf\u00e9' });
    assert.deepEqual(readdirSync(join(folder, '.puts')), []);
  });
});

describe('A folder on Windows', () => {
  const folder = newFolder();
  const { save, load, artifacts } = open({ ...nodeModules(), isWindows: true }, folder);

  for (const [id, value] of [
    ['userId', 'ada.'],
    ['userId', 'con'],
    ['userId', 'a\\b'],
    ['sessionId', 'ab:c'],
    ['sessionId', 'lpt1.x'],
    ['appName', 'x '],
    ['filename', 'a.'],
    ['filename', 'ab:c'],
    ['filename', 'dir/CON.txt'],
    ['filename', 'what?'],
  ] as const) {
    it(`refuses the ${id} ${JSON.stringify(value)}`, async () => {
      await assert.rejects(save({ [id]: value }), failsWith('invalid_argument', /Windows/));
      assert.equal(await load({ [id]: value }), undefined);
    });
  }

  it('takes usual names', async () => {
    assert.equal(await save({ userId: 'ada@x.org', filename: 'dir/concert.txt' }), 0);
    const names = await artifacts.listArtifactKeys({ ...key, userId: 'ada@x.org' }, {});
    assert.deepEqual(names, ['dir/concert.txt']);
    assert.ok(existsSync(join(folder, 'apps/shop/users/ada@x.org')));
  });
});

describe('A folder elsewhere', () => {
  it('has a place for the names that Windows refuses', () => {
    for (const isWindows of [true, false]) {
      const paths = new FolderPaths(newFolder(), { ...nodeModules(), isWindows });
      const owner = { ...key, userId: 'con' };
      assert.equal(paths.ofFile({ owner, name: 'a.' }) === undefined, isWindows);
    }
  });
});
