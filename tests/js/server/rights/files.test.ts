// Who may read, write and delete files by a request.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type SessionAccess } from '../../../../js/server/index.js';
import { KEY, serveFiles, SESSION } from '../fixture.js';

const FILES = `${SESSION}/artifacts`;
const PNG = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGg_-' } };
const allowed = { authorize: () => true };

describe('The rights of requests for files', () => {
  it('are asked for with the action of each route', async () => {
    const asked: string[] = [];
    const authorize = (_: unknown, { action, ...key }: SessionAccess) => {
      asked.push(action);
      assert.deepEqual(key, KEY);
      return false;
    };
    const { ask } = await serveFiles({ authorize });
    const actions: readonly (readonly [path: string, method: string, action: string])[] = [
      ['', 'GET', 'listArtifacts'],
      ['', 'POST', 'saveArtifact'],
      ['/a/b', 'GET', 'loadArtifact'],
      ['/a/b?alt=media', 'GET', 'loadArtifact'],
      ['/a/b/versions', 'GET', 'listArtifacts'],
      ['/a/b/versions/metadata', 'GET', 'listArtifacts'],
      ['/a/b/versions/0', 'GET', 'loadArtifact'],
      ['/a/b/versions/0/metadata', 'GET', 'listArtifacts'],
      ['/a/b', 'PUT', 'saveArtifact'],
      ['/a/b', 'DELETE', 'deleteArtifact'],
    ];
    for (const [path, method] of actions) {
      assert.equal((await ask(FILES + path, { method })).status, 403);
    }
    assert.deepEqual(
      asked,
      actions.map(([, , action]) => action),
    );
  });

  it('a client without rights is the author of its files, and replaces and deletes none of others', async () => {
    const { service, put, ask } = await serveFiles(allowed);
    await put(`${FILES}/own?author=writer`, 'a');
    await ask(FILES, { body: { filename: 'own', artifact: PNG, author: 'writer' } });
    const versions = await service.artifacts.listArtifactVersions({ ...KEY, filename: 'own' });
    const authors = versions.map(({ author }) => author);
    assert.deepEqual(authors, ['user', 'user']);
    for (const author of ['writer', undefined]) {
      const filename = `of-${author}`;
      const artifact = { text: 'by an agent' };
      await service.artifacts.saveArtifact({ ...KEY, filename, artifact, author });
      const before = await service.artifacts.listArtifactVersions({ ...KEY, filename });
      const path = `${FILES}/${filename}`;
      const statuses = [
        (await put(path, 'a')).status,
        (await ask(FILES, { body: { filename, artifact: PNG } })).status,
        (await ask(path, { method: 'DELETE' })).status,
      ];
      assert.deepEqual(statuses, [403, 403, 403]);
      assert.deepEqual(await service.artifacts.listArtifactVersions({ ...KEY, filename }), before);
      assert.deepEqual((await ask(path)).body, artifact);
    }
    assert.equal((await ask(`${FILES}/own`, { method: 'DELETE' })).status, 200);
  });

  it('are not asked for a put that is stored already, unless another has put it', async () => {
    const { service, put, ask } = await serveFiles(allowed);
    const save = (id?: string) =>
      ask(FILES, { body: { filename: 'b', artifact: { text: 'tea' }, id } });
    const saved = await save('p1');
    const artifact = { text: 'by an agent' };
    await service.artifacts.saveArtifact({ ...KEY, filename: 'b', artifact, id: 'p2' });
    const savedAgain = await save('p1');
    assert.deepEqual([savedAgain.status, savedAgain.body], [200, saved.body]);
    for (const id of ['p2', 'p3', undefined]) assert.equal((await save(id)).status, 403);
    assert.deepEqual(await service.artifacts.listVersions({ ...KEY, filename: 'b' }), [0, 1]);
    const first = await put(`${FILES}/a?id=p1`, 'a');
    const data = new Uint8Array(1);
    await service.artifacts.put({ ...KEY, filename: 'a', data, author: 'writer', id: 'p2' });
    const again = await put(`${FILES}/a?id=p1`, 'a');
    assert.deepEqual([again.status, again.body], [200, first.body]);
    for (const id of ['p2', 'p3'])
      assert.equal((await put(`${FILES}/a?id=${id}`, 'a')).status, 403);
    assert.deepEqual(await service.artifacts.listVersions({ ...KEY, filename: 'a' }), [0, 1]);
  });

  it('user: files are changed with mayWriteUserState alone, and the files of agents with mayWriteAgentEvents', async () => {
    for (const mayWriteUserState of [false, true]) {
      const { put, ask } = await serveFiles({ authorize: () => ({ mayWriteUserState }) });
      const path = `${FILES}/user:a`;
      const statuses = [
        (await put(path, 'a')).status,
        (await ask(FILES, { body: { filename: 'user:a', artifact: PNG } })).status,
        (await ask(path, { method: 'DELETE' })).status,
      ];
      const expected = mayWriteUserState ? 200 : 403;
      assert.deepEqual(statuses, [expected, expected, expected]);
    }
    const { service, put } = await serveFiles({ authorize: () => ({ mayWriteAgentEvents: true }) });
    await service.artifacts.saveArtifact({ ...KEY, filename: 'a', artifact: PNG });
    assert.equal((await put(`${FILES}/a?author=writer`, 'a')).status, 200);
    const stored = await service.artifacts.getArtifactVersion({ ...KEY, filename: 'a' });
    assert.equal(stored?.author, 'writer');
  });

  it('a stored file of another user or session is reached by no name or version that a client can write', async () => {
    const { service, put, get, ask } = await serveFiles({
      authorize: (_, { appName, userId, sessionId }) =>
        appName === 'shop' && userId === 'ada' && sessionId === 's1',
    });
    const secret = { text: 'a-secret' };
    const others = [
      { ...KEY, sessionId: 's2' },
      { ...KEY, userId: 'eve' },
      { ...KEY, appName: 'other' },
    ];
    for (const key of others) {
      await service.createSession(key);
      for (const filename of ['a', 'user:a']) {
        if (filename === 'user:a' && key.sessionId === 's2') continue;
        await service.artifacts.saveArtifact({ ...key, filename, artifact: secret });
      }
    }
    const names = [
      ...['a', 'user:a', '../s2/artifacts/a', '..%2Fs2%2Fartifacts%2Fa', '%2e%2e/s2/a'],
      ...['.%2E%2Fs2%2Fartifacts%2Fa', '..%5Cs2%5Ca', 'user:..%2F..%2Feve%2Fa', '%2Fa', 'a%00'],
      ...['user%3Aa/versions/latest', 'a/versions/0', 'a/versions/00', 'a/versions/0/versions/0'],
      ...['artifact:%2F%2Fapps%2Fshop%2Fusers%2Feve%2Fartifacts%2Fa', '~a', '~user:a', 'user:~a'],
      ...['..%2F..%2Fs2%2Fartifacts%2Fa/versions/0', 's2/a', 'a/versions/0%2F..%2F..%2Fs2'],
    ];
    for (const name of names) {
      for (const headers of [{}, { 'adk-session-protocol': '1.0' }]) {
        for (const query of ['', '?alt=media', '?version=0', '?version=0&alt=media']) {
          const response = await get(`${FILES}/${name}${query}`, headers);
          assert.ok(!(await response.text()).includes('a-secret'), name);
          assert.ok([400, 403, 404].includes(response.status), `${response.status} ${name}`);
        }
        await put(`${FILES}/${name}`, 'mine', headers);
        await ask(`${FILES}/${name}`, { method: 'DELETE', headers });
      }
    }
    assert.deepEqual((await ask(FILES)).body, []);
    for (const key of others) {
      const loaded = await service.artifacts.loadArtifact({ ...key, filename: 'a' });
      assert.deepEqual(loaded, secret);
    }
  });
});
