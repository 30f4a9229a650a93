import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, openSessionService } from '../../../../js/index.js';
import { sessionThreadList } from '../../../../js/ui/assistant_ui/index.js';
import { message, text, USER } from './threads.js';

function listOf(options: object = {}) {
  let now = 1000;
  const service = new InMemorySessionService({ clock: () => (now += 1) });
  return { service, threads: sessionThreadList({ service, ...USER, ...options }) };
}

async function textOf(stream: ReadableStream): Promise<string> {
  const chunks: { textDelta?: string }[] = [];
  await stream.pipeTo(new WritableStream({ write: (chunk: object) => void chunks.push(chunk) }));
  return chunks.map(({ textDelta = '' }) => textDelta).join('');
}

describe('The list of threads', () => {
  it('lists the sessions of the user, the newest first, by pages', async () => {
    const { service, threads } = listOf({ limit: 2 });
    for (const sessionId of ['s1', 's2', 's3']) {
      await service.createSession({ ...USER, sessionId, title: sessionId, state: { big: 'x' } });
    }
    await service.createSession({ ...USER, userId: 'eve', sessionId: 's4' });
    const first = await threads.list();
    assert.deepEqual(
      first.threads.map(({ remoteId, title }) => [remoteId, title]),
      [
        ['s3', 's3'],
        ['s2', 's2'],
      ],
    );
    const second = await threads.list({ after: first.nextCursor });
    const session = await service.getSession({ ...USER, sessionId: 's1' });
    assert.deepEqual(second.threads, [
      {
        remoteId: 's1',
        status: 'regular',
        title: 's1',
        lastMessageAt: new Date(session?.lastUpdateTime ?? 0),
        custom: {},
      },
    ]);
    assert.equal(second.nextCursor, undefined);
  });

  it('finds threads by their titles and by what was said, each once', async () => {
    const { service, threads } = listOf();
    for (const sessionId of ['s1', 's2', 's3']) {
      const title = sessionId === 's1' ? 'Green tea' : undefined;
      const session = await service.createSession({ ...USER, sessionId, title });
      if (sessionId === 's3') continue;
      const content = { role: 'user', parts: [{ text: 'Which tea?' }] };
      await service.appendEvent({
        session,
        event: { author: 'user', invocationId: 'i1', content },
      });
    }
    const found = async (query: string) =>
      (await threads.search(query)).threads.map(({ remoteId, title }) => [remoteId, title]);
    assert.deepEqual(await found('tea'), [
      ['s2', undefined],
      ['s1', 'Green tea'],
    ]);
    assert.deepEqual(await found('green'), [['s1', 'Green tea']]);
  });

  it('creates, renames, archives and deletes', async () => {
    const { service, threads } = listOf();
    const { remoteId } = await threads.initialize('__LOCALID_1', { custom: { pinned: 'yes' } });
    assert.notEqual(remoteId, '__LOCALID_1');
    await threads.rename(remoteId, 'Tea');
    await threads.archive(remoteId);
    const archived = await threads.fetch(remoteId);
    assert.deepEqual(
      [archived.title, archived.status, archived.custom],
      ['Tea', 'archived', { pinned: 'yes' }],
    );
    assert.deepEqual((await service.getSession({ ...USER, sessionId: remoteId }))?.labels, {
      pinned: 'yes',
      archived: 'yes',
    });
    await threads.updateCustom(remoteId, { folder: 'shop' });
    assert.deepEqual((await threads.fetch(remoteId)).status, 'archived');
    await threads.unarchive(remoteId);
    const { status, custom } = await threads.fetch(remoteId);
    assert.deepEqual([status, custom], ['regular', { folder: 'shop' }]);
    await threads.updateCustom(remoteId, undefined);
    assert.deepEqual((await threads.fetch(remoteId)).custom, {});
    await assert.rejects(threads.updateCustom(remoteId, { n: 1 }), { code: 'invalid_argument' });
    await threads.delete(remoteId);
    assert.deepEqual((await threads.list()).threads, []);
    await assert.rejects(threads.fetch(remoteId), { code: 'not_found' });
    await assert.rejects(threads.archive(remoteId), { code: 'not_found' });
  });

  it('gives a session without a title the beginning of the first message', async () => {
    const { service, threads } = listOf();
    const { remoteId } = await threads.initialize('local');
    const messages = [message('m1', 'user', [text('Which  tea?')]), message('m2', 'assistant', [])];
    assert.equal(await textOf(await threads.generateTitle(remoteId, messages)), 'Which tea?');
    assert.equal((await threads.fetch(remoteId)).title, 'Which tea?');
    await service.updateSession({ ...USER, sessionId: remoteId }, { title: 'Mine' });
    assert.equal(await textOf(await threads.generateTitle(remoteId, messages)), 'Mine');
    const { remoteId: other } = await threads.initialize('local');
    assert.equal(await textOf(await threads.generateTitle(other, [])), '');
    assert.equal((await threads.fetch(other)).title, undefined);
  });

  it('loses none of several changes at the same time', async () => {
    const { service, threads } = listOf();
    const { remoteId } = await threads.initialize('local');
    await Promise.all([
      threads.updateCustom(remoteId, { folder: 'shop' }),
      threads.archive(remoteId),
    ]);
    const { status, custom } = await threads.fetch(remoteId);
    assert.deepEqual([status, custom], ['archived', { folder: 'shop' }]);
    // A network may delay the first of two requests.
    const update = service.updateSession.bind(service);
    service.updateSession = async (key, changes) => {
      if (changes.title === 'Te') await new Promise((resolve) => setTimeout(resolve, 20));
      return update(key, changes);
    };
    const messages = [message('m1', 'user', [text('Which tea?')])];
    await Promise.all([
      threads.rename(remoteId, 'Te'),
      threads.rename(remoteId, 'Tea'),
      threads.generateTitle(remoteId, messages),
    ]);
    assert.equal((await threads.fetch(remoteId)).title, 'Tea');
    await assert.rejects(threads.updateCustom(remoteId, { n: 1 }), { code: 'invalid_argument' });
    await threads.unarchive(remoteId);
  });

  it('takes the promise of a service, and refuses wrong options', async () => {
    const service = openSessionService({ storage: 'memory' });
    assert.deepEqual((await sessionThreadList({ service, ...USER }).list()).threads, []);
    const refuse = (options: object, key: string) =>
      assert.throws(() => listOf(options), { code: 'invalid_argument', key });
    refuse({ appName: '' }, 'appName');
    for (const given of [{}, null, undefined]) {
      refuse({ service: given }, 'service');
      const list = sessionThreadList({ service: Promise.resolve(given) as never, ...USER });
      await assert.rejects(list.list(), { code: 'invalid_argument', key: 'service' });
      await assert.rejects(list.fetch('s1'), { code: 'invalid_argument', key: 'service' });
    }
  });
});
