import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import {
  type Diagnostic,
  IndexedDbSessionService,
  InMemorySessionService,
  isSessionError,
  type RetentionOptions,
  type SessionServiceOptions,
  type StoredSessionService,
} from '../../../js/index.js';
import { VertexAiSessionService } from '../../../js/vertex/index.js';
import { APP, openOver, overStorages, says, USER } from './fixture.js';
import { gate, MapStorage } from './map_storage.js';

const MINUTE = 60_000;
const VERTEX = { projectId: 'tea', location: 'europe-west4', agentEngineId: '1' };
const NOW = 1_700_000_000_000;

async function idsOf(service: StoredSessionService, userId?: string): Promise<string[]> {
  const { sessions } = await service.listSessions({ ...APP, userId });
  return sessions.map(({ id }) => id).sort();
}

/** Waits until the service has these sessions, and a moment longer: no other may be deleted. */
async function leaves(
  service: StoredSessionService,
  ids: readonly string[],
  userId?: string,
): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if ((await idsOf(service, userId)).length <= ids.length) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.deepEqual(await idsOf(service, userId), [...ids].sort());
}

async function create(
  service: StoredSessionService,
  sessionId: string,
  { age = 0, userId = 'user', bytes = 0 } = {},
): Promise<void> {
  const lastUpdateTime = NOW - age;
  const events = bytes > 0 ? [{ ...says('x'.repeat(bytes)), timestamp: lastUpdateTime }] : [];
  await service.createSession({ ...APP, userId, sessionId, events, lastUpdateTime });
}

const options = (retention: RetentionOptions): SessionServiceOptions => ({
  clock: () => NOW,
  retention,
});

overStorages('The option retention', (open) => {
  it('deletes the sessions of all users of the app that are older than maxAge', async () => {
    const service = await open(options({ maxAge: MINUTE }));
    await create(service, 'old', { age: MINUTE + 1 });
    await create(service, 'young', { age: MINUTE });
    await create(service, 'of another', { age: MINUTE + 1, userId: 'other' });
    await create(service, 'new');
    await leaves(service, ['new', 'young']);
    await service.close();
  });

  it('keeps the last maxSessions of each user', async () => {
    const service = await open(options({ maxSessions: 2 }));
    for (const n of [1, 2, 3, 4, 5]) await create(service, `s${n}`, { age: 10 - n });
    await create(service, 'alone', { age: 100, userId: 'other' });
    await leaves(service, ['s4', 's5'], 'user');
    await leaves(service, ['alone'], 'other');
    await service.close();
  });

  it('keeps the last sessions that fit into maxBytes, and always the last one', async () => {
    const service = await open(options({ maxBytes: 5000 }));
    for (const n of [1, 2, 3, 4]) await create(service, `s${n}`, { age: 10 - n, bytes: 2000 });
    await leaves(service, ['s3', 's4']);
    await create(service, 'long', { bytes: 20_000 });
    await leaves(service, ['long']);
    await service.close();
  });

  it('applies all limits that are given', async () => {
    const limits = { maxAge: MINUTE, maxSessions: 3, maxBytes: 5000 };
    const service = await open(options(limits));
    await create(service, 'old', { age: MINUTE * 2 });
    for (const n of [1, 2, 3, 4]) await create(service, `s${n}`, { age: 10 - n });
    await create(service, 'other', { age: 5, userId: 'other', bytes: 4000 });
    await create(service, 'more', { age: 4, userId: 'other', bytes: 4000 });
    await leaves(service, ['more', 's2', 's3', 's4']);
    await service.close();
  });

  it('is applied to users of whom the service only reads', async () => {
    const storage = new MapStorage();
    const writer = await openOver(storage, { clock: () => NOW });
    for (const n of [1, 2, 3]) await create(writer, `s${n}`, { age: 10 - n });
    const reader = await openOver(storage, options({ maxSessions: 1 }));
    assert.equal((await idsOf(reader, 'user')).length, 3);
    await leaves(writer, ['s3']);
    await reader.close();
  });

  for (const [what, limits, key] of [
    ['no object', 5, 'retention'],
    ['null', null, 'retention'],
    ['no limit', {}, 'retention'],
    ['an undefined limit only', { maxAge: undefined }, 'retention'],
    ['maxSessions: 0', { maxSessions: 0 }, 'retention.maxSessions'],
    ['half a session', { maxSessions: 1.5 }, 'retention.maxSessions'],
    ['maxBytes: 0', { maxBytes: 0 }, 'retention.maxBytes'],
    ['maxAge below a minute', { maxAge: MINUTE - 1 }, 'retention.maxAge'],
    ['maxAge: NaN', { maxAge: NaN }, 'retention.maxAge'],
    ['an age as a text', { maxAge: '30 days' }, 'retention.maxAge'],
    ['one bad limit of two', { maxAge: MINUTE, maxSessions: -1 }, 'retention.maxSessions'],
    ['a misspelt limit', { maxage: MINUTE }, 'retention.maxage'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(
        async () => open({ retention: limits as RetentionOptions }),
        (error) => isSessionError(error, 'invalid_argument') && error.key === key,
      );
    });
  }
});

for (const [storage, open] of [
  ['IndexedDB', (options) => new IndexedDbSessionService(options)],
  ['a database', (options) => new DatabaseSessionService('sqlite:', options)],
  ['Vertex AI', (options) => new VertexAiSessionService({ ...VERTEX, ...options })],
] as [string, (options: SessionServiceOptions) => StoredSessionService][]) {
  it(`The option retention over ${storage} refuses limits that would delete what is being written`, () => {
    for (const [name, limit] of [
      ['maxAge', MINUTE - 1],
      ['maxSessions', 0],
      ['maxBytes', 0],
    ] as const) {
      const key = `retention.${name}`;
      const refused = { name: 'SessionError', code: 'invalid_argument', key };
      assert.throws(() => open({ retention: { [name]: limit } }), refused);
    }
  });
}

describe('The option retention', () => {
  it('keeps a session that is written while it is applied', async () => {
    const storage = new MapStorage();
    const other = await openOver(storage, { clock: () => NOW });
    await create(other, 'old', { age: MINUTE * 2 });
    await create(other, 'older', { age: MINUTE * 3 });
    const session = (await other.getSession({ ...USER, sessionId: 'old' }))!;
    const remove = storage.deleteUnchanged.bind(storage);
    storage.deleteUnchanged = async (request) => {
      if (request.key.sessionId === 'old') await other.appendEvent({ session, event: says('x') });
      return remove(request);
    };
    const service = await openOver(storage, options({ maxAge: MINUTE }));
    await create(service, 'new');
    await leaves(service, ['new', 'old']);
    await service.close();
  });

  it('keeps a session that is created while it is applied and after the clock is set back', async () => {
    const storage = new MapStorage();
    let now = NOW;
    const clock = () => now;
    const other = await openOver(storage, { clock });
    await create(other, 'old', { age: MINUTE * 2 });
    const service = await openOver(storage, { clock, retention: { maxAge: MINUTE } });
    const list = storage.list.bind(storage);
    const begun = gate();
    storage.list = async (request) => {
      storage.list = list;
      now -= MINUTE * 10;
      await other.createSession({ ...USER, sessionId: 'late' });
      begun.open();
      return list(request);
    };
    await create(service, 'new');
    // The timer of the retention does not keep this program running.
    const running = setInterval(() => undefined, 1000);
    await begun.opened;
    clearInterval(running);
    await leaves(other, ['late', 'new', 'old']);
    // By the right clock they are as old as they say.
    now = NOW;
    await create(service, 'newer');
    await leaves(other, ['new', 'newer']);
    await service.close();
  });

  it('of two services at once deletes no session that either keeps', async () => {
    const storage = new MapStorage();
    const limits = options({ maxSessions: 10, maxBytes: 1_000_000 });
    const services = [await openOver(storage, limits), await openOver(storage, limits)] as const;
    for (let n = 0; n < 40; n += 1) {
      await create(services[n % 2 === 0 ? 0 : 1], `s${n + 10}`, { age: 100 - n });
    }
    const ids = Array.from({ length: 10 }, (_, n) => `s${n + 40}`);
    await Promise.all(services.map((service) => leaves(service, ids)));
    await Promise.all(services.map((service) => service.close()));
  });

  it('reports a failure to onDiagnostic, and not as a rejection', async () => {
    const storage = new MapStorage();
    const seen: Diagnostic[] = [];
    storage.deleteUnchanged = () => Promise.reject(new Error('the disk is gone'));
    const service = await openOver(storage, {
      ...options({ maxSessions: 1 }),
      onDiagnostic: (diagnostic) => seen.push(diagnostic),
    });
    await create(service, 'a', { age: 1 });
    await create(service, 'b');
    for (
      let tries = 0;
      tries < 2000 && !seen.some(({ kind }) => kind === 'retention');
      tries += 1
    ) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const failures = seen.filter(({ kind }) => kind === 'retention');
    assert.deepEqual(failures[0], { kind: 'retention', storage: 'map', code: 'storage_failed' });
    await service.close();
    assert.equal((await idsOf(await openOver(storage))).length, 2);
  });

  it('is applied to the other users and apps if it fails for one', async () => {
    const storage = new MapStorage();
    const list = storage.list.bind(storage);
    storage.list = (request) => {
      if (request.userId === 'bad') return Promise.reject(new Error('the index is damaged'));
      return list(request);
    };
    const seen: Diagnostic[] = [];
    const service = await openOver(storage, {
      ...options({ maxSessions: 1 }),
      onDiagnostic: (diagnostic) => seen.push(diagnostic),
    });
    await create(service, 'only', { userId: 'bad' });
    await create(service, 'a', { age: 1 });
    await create(service, 'b');
    await leaves(service, ['b'], 'user');
    await service.close();
    const failures = seen.filter(({ kind }) => kind === 'retention');
    assert.deepEqual(failures, [{ kind: 'retention', storage: 'map', code: 'storage_failed' }]);
  });

  it('ends with close, which waits for the session that is being deleted', async () => {
    const storage = new MapStorage();
    const other = await openOver(storage, { clock: () => NOW });
    for (const n of [1, 2, 3, 4]) await create(other, `s${n}`, { age: MINUTE * 2 + n });
    const [begun, held] = [gate(), gate()];
    const remove = storage.deleteUnchanged.bind(storage);
    let calls = 0;
    storage.deleteUnchanged = async (request) => {
      calls += 1;
      begun.open();
      await held.opened;
      return remove(request);
    };
    const seen: Diagnostic[] = [];
    const service = await openOver(storage, {
      ...options({ maxAge: MINUTE }),
      onDiagnostic: (diagnostic) => seen.push(diagnostic),
    });
    await idsOf(service);
    // The timer of the retention does not keep this program running.
    const running = setInterval(() => undefined, 1000);
    await begun.opened;
    clearInterval(running);
    let isClosed = false;
    const closing = service.close().then(() => (isClosed = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(isClosed, false);
    held.open();
    await closing;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(calls, 1);
    assert.deepEqual(seen.filter(({ kind }) => kind === 'retention'), []); // prettier-ignore
    assert.equal((await idsOf(other)).length, 3);
  });

  it('closes at once while it waits for an idle moment', async () => {
    const service = new InMemorySessionService(options({ maxAge: MINUTE }));
    await create(service, 'old', { age: MINUTE * 2 });
    await service.close();
  });

  it('does not keep a program running', () => {
    const index = new URL('../../../js/index.js', import.meta.url);
    const program = `import { InMemorySessionService } from ${JSON.stringify(index.href)};
      const service = new InMemorySessionService({ retention: { maxSessions: 1 } });
      await service.createSession({ appName: 'app', userId: 'user' });
      process.stdout.write('created');`;
    const { stdout, status } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      { encoding: 'utf8', timeout: 30_000 },
    );
    assert.deepEqual([stdout, status], ['created', 0]);
  });
});
