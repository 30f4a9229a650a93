import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService } from '../../../../js/service/adk/index.js';
import { wholeStorage } from '../whole_storage.js';
import {
  exportSession,
  importSession,
  sessionFromFile,
} from '../../../../js/service/files/index.js';
import {
  InMemorySessionService,
  type Notice,
  openSessionService,
  type SessionChanges,
} from '../../../../js/index.js';
import type { Storage } from '../../../../js/core/storage/index.js';
import { APP, failure, imported, KEY, overStorages, says, stored, USER } from '../fixture.js';

const DESCRIPTION = { title: 'Green tea', labels: { pinned: 'yes' } };

overStorages('A title and labels', (open) => {
  it('are in handles and lists only where they are set', async () => {
    const service = await open();
    const bare = await service.createSession({ ...USER, sessionId: 'bare' });
    const session = await service.createSession({ ...KEY, ...DESCRIPTION });
    const { sessions } = await service.listSessions(APP);
    for (const handle of [bare, sessions.find(({ id }) => id === 'bare')!]) {
      assert.ok(!('title' in handle) && !('labels' in handle));
    }
    const listed = sessions.find(({ id }) => id === KEY.sessionId)!;
    for (const { title, labels } of [session, listed, await stored(service)]) {
      assert.deepEqual({ title, labels }, DESCRIPTION);
    }
  });

  it('stay through appends and imports', async () => {
    const service = await open();
    const session = await service.createSession({ ...KEY, ...DESCRIPTION });
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    const file = await exportSession(service, KEY);
    assert.deepEqual([file.title, file.labels], [DESCRIPTION.title, DESCRIPTION.labels]);
    const copy = await importSession(service, file, { sessionId: 'copy' });
    assert.deepEqual([copy.title, copy.labels], [DESCRIPTION.title, DESCRIPTION.labels]);
  });

  it('change neither the revision nor the time of the session', async () => {
    const service = await open();
    const session = await service.createSession(imported({ ...KEY, lastUpdateTime: 1000 }));
    const revision = service.revisionOf(session);
    await service.updateSession(KEY, DESCRIPTION);
    const again = await stored(service);
    assert.equal(service.revisionOf(again), revision);
    assert.equal(again.lastUpdateTime, 1000);
  });

  it('tell watchers that the session was updated', async () => {
    const service = await open();
    await service.createSession(KEY);
    const notices: Notice[] = [];
    service.watch(USER, { onNotice: (notice) => notices.push(notice) });
    service.watch({ ...USER, sessionId: 'other' }, { onNotice: () => assert.fail() });
    await service.updateSession(KEY, { title: 'Tea' });
    await service.close();
    assert.deepEqual(notices, [{ type: 'updated', ...KEY }]);
  });

  it('of a missing session are not_found', async () => {
    const service = await open();
    await failure(service.updateSession(KEY, DESCRIPTION), 'not_found');
    assert.equal(await service.getSession(KEY), undefined);
  });

  for (const [problem, changes, key] of [
    ['an empty title', { title: '' }, 'title'],
    ['a title of 129 characters', { title: 'x'.repeat(129) }, 'title'],
    ['a title with a line break', { title: 'a\nb' }, 'title'],
    ['a title with half a character', { title: '\ud83d' }, 'title'],
    ['a title that is a number', { title: 1 }, 'title'],
    ['labels in an array', { labels: ['a'] }, 'labels'],
    [
      '65 labels',
      { labels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`l${n}`, ''])) },
      'labels',
    ],
    ['an upper-case key', { labels: { Pinned: 'yes' } }, 'labels.Pinned'],
    ['a key of 65 letters', { labels: { ['k'.repeat(65)]: '' } }, `labels.${'k'.repeat(65)}`],
    ['a value with a space', { labels: { a: 'b c' } }, 'labels.a'],
    ['a value that is no text', { labels: { a: 1 } }, 'labels.a'],
  ] as const) {
    it(`with ${problem} are refused, and nothing changes`, async () => {
      const service = await open();
      await service.createSession({ ...KEY, ...DESCRIPTION });
      const refused = service.updateSession(KEY, changes as unknown as SessionChanges);
      assert.equal((await failure(refused, 'invalid_argument')).key, key);
      const { title, labels } = await stored(service);
      assert.deepEqual({ title, labels }, DESCRIPTION);
    });
  }

  it('with a wrong label are refused by an error that tells a key from a value', async () => {
    const service = await open();
    await service.createSession(KEY);
    const messageFor = async (labels: Record<string, string>) =>
      (await failure(service.updateSession(KEY, { labels }), 'invalid_argument')).message;
    assert.match(await messageFor({ Pinned: 'yes' }), /^labels.Pinned must have a key of 1 to 64 /);
    assert.match(await messageFor({ a: 'b c' }), /^labels.a must be text of at most 64 .*"b c"/);
  });

  it('may be as long as their limits', async () => {
    const service = await open();
    const entries = Array.from({ length: 64 }, (_, n) => [`${n}-`.padEnd(64, 'k'), 'v'.repeat(64)]);
    const labels = Object.fromEntries(entries) as Record<string, string>;
    const title = '😀'.repeat(128);
    await service.createSession({ ...KEY, title, labels });
    const found = await stored(service);
    assert.deepEqual([found.title, found.labels], [title, labels]);
  });
});

describe('A title and labels', () => {
  it('are unsupported over a storage without the verb describe', async () => {
    const bare: Storage = { ...wholeStorage(), describe: undefined };
    const service = await openSessionService({ storage: bare });
    await failure(service.createSession({ ...KEY, ...DESCRIPTION }), 'unsupported');
    assert.equal(await service.getSession(KEY), undefined);
    await service.createSession(KEY);
    await failure(service.updateSession(KEY, DESCRIPTION), 'unsupported');
  });

  it("are in the framework's sessions", async () => {
    const service = new FrameworkService();
    await service.createSession({ ...KEY, title: 'Tea' });
    await service.updateSession(KEY, { labels: { a: '1' } });
    const session = (await service.getSession(KEY)) as { title?: string; labels?: unknown };
    assert.deepEqual([session.title, session.labels], ['Tea', { a: '1' }]);
  });

  it('in a file are checked before anything is stored', async () => {
    const service = new InMemorySessionService();
    const { appName, userId, sessionId: id } = KEY;
    const damaged = { appName, userId, id, events: [], lastUpdateTime: 1.7e12, title: '' };
    const error = await failure(importSession(service, damaged), 'invalid_argument');
    assert.equal(error.key, 'title');
    const { title, labels } = sessionFromFile({ ...damaged, title: null, labels: { a: '1' } });
    assert.deepEqual([title, labels], [undefined, { a: '1' }]);
  });
});
