import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { createEvent, State, type SessionErrorCode } from '../../../../js/index.js';
import { getSessionServiceFromUri } from '../../../../js/service/uri/index.js';
import { newFolder } from '../../../new_folder.js';
import { failsWith } from '../../fails_with.js';

const folder = newFolder();

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

describe('A URI', () => {
  const storages: [uri: string, kind: string, durable: boolean][] = [
    ['memory://', 'memory', false],
    ['memory:', 'memory', false],
    ['sqlite:sessions.db', 'sqlite', true],
    ['sqlite::memory:', 'sqlite', false],
    ['sqlite+aiosqlite:///sessions.db', 'sqlite', true],
    ['postgresql://ada:s3cret@127.0.0.1:1/db', 'postgresql', true],
    ['postgresql+asyncpg://ada@127.0.0.1/db', 'postgresql', true],
    ['MySQL://ada@127.0.0.1/db', 'mysql', true],
    ['mariadb://ada@127.0.0.1/db', 'mysql', true],
    ['indexeddb:my-shop', 'indexeddb', true],
    ['indexeddb://', 'indexeddb', true],
    ['agentengine://123', 'vertexai', true],
    ['vertexai://projects/p/locations/l/reasoningEngines/1', 'vertexai', true],
    ['vertexai://', 'vertexai', true],
  ];
  for (const [uri, kind, durable] of storages) {
    it(`${uri.replace('s3cret', '***')} names a service over ${kind}, which opens nothing`, async () => {
      const service = getSessionServiceFromUri(uri);
      assert.deepEqual(service.storage, { kind, durable });
      await service.close();
      assert.ok(!existsSync('sessions.db'));
    });
  }

  const refused: [title: string, uri: string, code: SessionErrorCode, message: RegExp][] = [
    ['empty', '', 'invalid_argument', /memory:\/\/, sqlite:PATH, postgresql/],
    ['without scheme', 'ada:s3cret@host', 'invalid_argument', /memory:\/\/, sqlite:PATH/],
    ['of an unknown scheme', 'redis://ada:s3cret@host/1', 'invalid_argument', /mariadb:/],
    ['of a scheme that objects inherit', 'constructor:s3cret', 'invalid_argument', /indexeddb:/],
    ['of memory with a path', 'memory://s3cret', 'invalid_argument', /must end after/],
    ['with a stray character in its password', 'mysql://ada:s3cret#@host/db', 'invalid_argument', /percent/],
    ['of IndexedDB with a broken escape', 'indexeddb:%s3cret', 'invalid_argument', /percent/],
    ['of no engine of Vertex AI', 'vertexai://s3cret', 'invalid_argument', /must have an agent engine/],
    ['of no agent engine', 'agentengine://projects/s3cret', 'invalid_argument', /reasoningEngines/],
  ]; // prettier-ignore
  for (const [title, uri, code, message] of refused) {
    it(`that is ${title} is refused at once, and does not appear in the error`, () => {
      assert.throws(() => getSessionServiceFromUri(uri), failsWith(code, message));
    });
  }

  it('that is not a string is refused', () => {
    assert.throws(
      () => getSessionServiceFromUri(new URL('memory://') as unknown as string),
      failsWith('invalid_argument', /must be a string/),
    );
  });
});

describe('The service of a URI', () => {
  it('keeps its sessions in the file', async () => {
    const uri = `sqlite:${join(folder, 'kept.db')}`;
    const first = getSessionServiceFromUri(uri);
    await first.createSession({ ...KEY, state: { topic: 'tea', 'user:name': 'Ada' } });
    await first.close();
    const second = getSessionServiceFromUri(uri);
    const session = await second.getSession(KEY);
    assert.deepEqual(session?.state, { topic: 'tea', 'user:name': 'Ada' });
    await second.updateState({ ...KEY, stateDelta: { topic: State.REMOVED } });
    await second.deleteSession({ ...KEY, sessionId: 'none' });
    const { sessions, totalItems } = await second.listSessions({ appName: 'app' });
    assert.equal(totalItems, 1);
    assert.deepEqual(sessions[0]?.state, { 'user:name': 'Ada' });
    await second.close();
  });

  it('uses its arguments as they were at the first call, although the storage loads later', async () => {
    const service = getSessionServiceFromUri('sqlite::memory:');
    const state = { cart: ['tea'] };
    const created = service.createSession({ ...KEY, state });
    state.cart.push('salt');
    assert.deepEqual((await created).state, { cart: ['tea'] });
    await service.close();
  });

  it('gets the options', async () => {
    const time = 1_700_000_000_000;
    const service = getSessionServiceFromUri('sqlite::memory:', {
      clock: () => time,
      newId: () => 'mine',
      durability: 'relaxed',
    });
    const session = await service.createSession({ appName: 'app', userId: 'user' });
    assert.equal(session.id, 'mine');
    assert.equal(session.lastUpdateTime, time);
    await service.close();
  });

  it('refuses a stale handle as its database does', async () => {
    const service = getSessionServiceFromUri('sqlite::memory:', { stale: 'reject' });
    const session = await service.createSession(KEY);
    const other = await service.getSession(KEY);
    assert.ok(other);
    await service.appendEvent({ session: other, event: createEvent() });
    await assert.rejects(service.appendEvent({ session, event: createEvent() }), {
      code: 'stale_session',
    });
    await service.close();
  });

  for (const [title, uri, options, message] of [
    ['a schema on SQLite', 'sqlite:s.db', { schema: 'a' }, /^schema is not for SQLite/],
    ['a schema that is no name', 'mysql://a@b/c', { schema: 'a;b' }, /^schema must be of letters/],
    ['an empty schema', 'postgresql://a@b/c', { schema: '' }, /^schema must be of letters/],
    [
      'a prefix that is no name',
      'postgresql://a@b/c',
      { tablePrefix: 'a-b' },
      /^tablePrefix must be/,
    ],
    [
      'a schema of IndexedDB',
      'indexeddb:a',
      { schema: 'a' },
      /^schema applies only to SQL databases/,
    ],
    [
      'a prefix at Vertex AI',
      'vertexai://1',
      { tablePrefix: 'a' },
      /^tablePrefix applies only to SQL databases/,
    ],
  ] as const) {
    it(`refuses ${title} at once`, () => {
      assert.throws(() => getSessionServiceFromUri(uri, options as object), {
        code: 'invalid_argument',
        message,
      });
    });
  }

  it('reports options that its database does not accept', async () => {
    const service = getSessionServiceFromUri('mariadb://ada:s3cret@127.0.0.1/db', {
      durability: 'relaxed',
    });
    await assert.rejects(
      service.getSession(KEY),
      failsWith('invalid_argument', /innodb_flush_log_at_trx_commit/),
    );
    await service.close();
  });

  it('reports an unreachable server without the password', async () => {
    for (const scheme of ['postgresql', 'mysql']) {
      const service = getSessionServiceFromUri(`${scheme}://ada:s3cret@127.0.0.1:1/db`);
      await assert.rejects(
        service.createSession(KEY),
        failsWith('storage_unavailable', /ECONNREFUSED/),
      );
      await service.close();
    }
  });

  it('ends its first call if it is closed at once and the server does not answer', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const service = getSessionServiceFromUri(`postgresql://ada@127.0.0.1:${port}/db`);
    const call = service.getSession(KEY).then(
      () => 'read',
      () => 'failed',
    );
    await service.close({ timeoutMs: 50 });
    assert.equal(await Promise.race([call, pause(5000, 'pending')]), 'failed');
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('reports a missing IndexedDB', async () => {
    const service = getSessionServiceFromUri('indexeddb:my-shop');
    await assert.rejects(service.getSession(KEY), { code: 'storage_unavailable' });
    await service.close();
  });
});
