// A folder of files that google-adk's FileArtifactService reads and writes at the same time.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { InMemorySessionService, type Part } from '../../js/index.js';
import { DatabaseSessionService } from '../../js/service/database/index.js';
import { liveSession } from '../../js/ui/live/index.js';
import { isFileName } from '../../js/stores/artifacts/artifact_names.js';
import { newFolder } from '../new_folder.js';
import { startPython } from './python.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const pythonKey = { app_name: 'shop', user_id: 'ada', session_id: 's1' };
const PNG = {
  inlineData: { mimeType: 'image/png', data: 'iVBORw0KGg/+', displayName: 'Bild.png' },
};
const TEXT = { text: 'Tee für zwei' };

async function besidePython(
  run: (
    artifacts: InMemorySessionService['artifacts'],
    python: (method: string, given?: object) => Promise<unknown>,
  ) => Promise<void>,
): Promise<void> {
  const folder = newFolder();
  const service = new InMemorySessionService({ artifacts: { folder } });
  await service.createSession(key);
  const program = startPython('artifacts.py', folder);
  try {
    await run(
      service.artifacts,
      async (method, given = {}) =>
        JSON.parse(await program.ask([method, { ...pythonKey, ...given }])) as unknown,
    );
  } finally {
    await program.end();
    await service.close();
  }
}

describe('A folder of files beside google-adk', () => {
  it('each reads what the other has written', () =>
    besidePython(async (artifacts, python) => {
      for (const filename of ['dir/ä b.png', 'user:b', 'dir']) {
        const ours = { ...key, filename };
        const customMetadata = { pages: 3 };
        assert.equal(await artifacts.saveArtifact({ ...ours, artifact: PNG, customMetadata }), 0);
        const custom_metadata = customMetadata;
        const saved = await python('save_artifact', { filename, artifact: TEXT, custom_metadata });
        assert.equal(saved, 1);
        assert.equal(await artifacts.saveArtifact({ ...ours, artifact: TEXT, author: 'user' }), 2);
        assert.deepEqual(await python('list_versions', { filename }), [0, 1, 2]);
        assert.deepEqual(await artifacts.listVersions(ours), [0, 1, 2]);
        const loaded = await python('load_artifact', { filename, version: 0 });
        // Python prints base64url.
        assert.deepEqual(loaded, { inlineData: { ...PNG.inlineData, data: 'iVBORw0KGg_-' } });
        assert.deepEqual(await artifacts.loadArtifact({ ...ours, version: 0 }), PNG);
        for (const version of [1, 2]) {
          assert.deepEqual(await python('load_artifact', { filename, version }), TEXT);
          assert.deepEqual(await artifacts.loadArtifact({ ...ours, version }), TEXT);
        }
        const theirs = await python('list_artifact_versions', { filename });
        const told = (theirs as { mimeType?: string; canonicalUri: string }[]).map(
          ({ mimeType, canonicalUri }) => [mimeType, canonicalUri.startsWith('file:///')],
        );
        assert.deepEqual(told, [
          ['image/png', true],
          [undefined, true],
          [undefined, true],
        ]);
        const own = await artifacts.listArtifactVersions(ours);
        assert.deepEqual(
          own.map(({ mimeType, customMetadata, author }) => [mimeType, customMetadata, author]),
          [
            ['image/png', customMetadata, undefined],
            ['text/plain', customMetadata, undefined],
            ['text/plain', undefined, 'user'],
          ],
        );
      }
      const names = ['dir', 'dir/ä b.png', 'user:b'];
      assert.deepEqual(await python('list_artifact_keys'), names);
      assert.deepEqual(await artifacts.listArtifactKeys(key), names);
      await python('delete_artifact', { filename: 'dir' });
      await artifacts.deleteArtifact({ ...key, filename: 'user:b' });
      assert.deepEqual(await python('list_artifact_keys'), ['dir/ä b.png']);
      assert.deepEqual(await artifacts.listArtifactKeys(key), ['dir/ä b.png']);
    }));

  it('both save at once, and each version is there once', () =>
    besidePython(async (artifacts, python) => {
      const filename = 'a';
      const theirs = (async () => {
        const versions = [];
        for (let count = 0; count < 40; count += 1) {
          versions.push(await python('save_artifact', { filename, artifact: { text: 'python' } }));
        }
        return versions as number[];
      })();
      const ours = (async () => {
        const versions = [];
        for (let count = 0; count < 40; count += 1) {
          const artifact = { text: 'ours' };
          versions.push(await artifacts.saveArtifact({ ...key, filename, artifact }));
        }
        return versions;
      })();
      const [python40, ours40] = await Promise.all([theirs, ours]);
      assert.equal(new Set([...python40, ...ours40]).size, 80);
      for (const [versions, text] of [
        [python40, 'python'],
        [ours40, 'ours'],
      ] as const) {
        for (const version of versions) {
          const loaded = await artifacts.loadArtifact({ ...key, filename, version });
          assert.deepEqual(loaded, { text });
        }
      }
    }));

  it('a name that google-adk refuses is refused', () =>
    besidePython(async (_, python) => {
      const parts = [
        'a',
        '..',
        '.',
        'versions',
        'Versions. ',
        'metadata.json',
        'METADATA.JSON.',
        'C:',
        'a ',
        '',
        'x:y',
      ];
      const names = parts.flatMap((first) => [
        first,
        ...parts.map((second) => `${first}/${second}`),
      ]);
      for (const name of [...names, '\\a', 'a\\..\\b', 'ä'.repeat(127), 'ä'.repeat(128)]) {
        if (!isFileName(name)) continue;
        const version = await python('save_artifact', { filename: name, artifact: TEXT });
        assert.equal(version, 0, JSON.stringify(name));
        const [listed] = (await python('list_artifact_keys')) as string[];
        assert.equal(listed, name);
        await python('delete_artifact', { filename: name });
      }
    }));

  it("an agent of google-adk loads the file of a page's message", async () => {
    const folder = newFolder();
    const file = join(newFolder(), 'chat.db');
    const service = new DatabaseSessionService(`sqlite:///${file}`, { artifacts: { folder } });
    const chat = liveSession(service, key);
    const content = { role: 'user', parts: [{ text: 'Look' }] };
    const picture = { name: 'Bild ä.png', data: new Uint8Array([1, 2, 3]), mimeType: 'image/png' };
    await chat.send({ author: 'user', content }, { files: [picture] });
    await service.close();
    const program = startPython('artifacts.py', folder);
    const url = `sqlite+aiosqlite:///${file}`;
    const asked = ['ask', { ...pythonKey, url, filename: 'Bild ä.png' }];
    const parts = JSON.parse(await program.ask(asked)) as Part[];
    await program.end();
    const texts = parts.map(({ text }) => text);
    assert.ok(texts.includes('[Uploaded Artifact: "Bild ä.png"]'), JSON.stringify(parts));
    const files = parts.flatMap(({ inlineData }) => inlineData ?? []);
    assert.deepEqual(files, [{ mimeType: 'image/png', data: 'AQID' }]);
  });
});
