// Sessions that exist already, imported as copies.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, SessionError } from '../../../../js/index.js';
import { CachedSessionService } from '../../../../js/service/cache/index.js';
import { exportSession } from '../../../../js/service/files/index.js';
import { importCopies, importFiles } from '../../../../js/ui/inspector/sessions/imports.js';

it('Copies that fail can be imported again, and the others are imported once', async () => {
  const service = new InMemorySessionService();
  const files: { name: string; text: () => Promise<string> }[] = [];
  for (const sessionId of ['s1', 's2', 's3']) {
    const key = { appName: 'shop', userId: 'ada', sessionId };
    await service.createSession({ ...key, title: sessionId });
    const text = JSON.stringify(await exportSession(service, key));
    files.push({ name: sessionId, text: () => Promise.resolve(text) });
  }
  const { existing, imported, problems } = await importFiles(service, files);
  assert.deepEqual([existing.length, imported.length, problems.length], [3, 0, 3]);

  const create = service.createSession.bind(service);
  let isFull = true;
  service.createSession = (request) => {
    if (isFull && request.title === 's2') throw new SessionError('quota_exceeded', 'Full.');
    return create(request);
  };
  const first = await importCopies(service, existing);
  assert.deepEqual([first.imported.length, first.problems], [2, ['There is no room left. Full.']]);
  isFull = false;
  const second = await importCopies(service, first.existing);
  assert.deepEqual([second.imported.length, second.problems, second.existing], [1, [], []]);
  const { sessions } = await service.listSessions({ appName: 'shop' });
  assert.deepEqual(sessions.map(({ title }) => title).sort(), ['s1', 's1', 's2', 's2', 's3', 's3']);
});

it('An import ends when a cache has forgotten its owner, and stores no more', async () => {
  const source = new InMemorySessionService();
  const cache = new CachedSessionService({ remote: source, local: 'memory', owner: 'ada' });
  const texts: string[] = [];
  for (const sessionId of ['s1', 's2']) {
    const key = { appName: 'shop', userId: 'ada', sessionId };
    await source.createSession(key);
    texts.push(JSON.stringify(await exportSession(source, key)));
    await source.deleteSession(key);
  }
  const files = texts.map((text, at) => ({
    name: `s${at}`,
    text: async () => {
      if (at === 1) assert.fail('The second file is read.');
      await cache.forget();
      return text;
    },
  }));
  await assert.rejects(importFiles(cache, files), { code: 'aborted' });
  assert.deepEqual((await cache.listSessions({ appName: 'shop' })).sessions, []);
  const isKept = importCopies(cache, texts);
  await cache.forget();
  await assert.rejects(isKept, { code: 'aborted' });
  await cache.close();
});

it('Copies get ids on a page without TLS, whose crypto has no randomUUID', async (t) => {
  const service = new InMemorySessionService();
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
  await service.createSession(key);
  const text = JSON.stringify(await exportSession(service, key));
  // Hides the method of the prototype.
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  t.after(() => Reflect.deleteProperty(crypto, 'randomUUID'));
  const { imported, problems } = await importCopies(service, [text]);
  assert.deepEqual([imported.length, problems], [1, []]);
});
