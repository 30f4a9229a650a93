import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createEvent,
  type Diagnostic,
  InMemorySessionService,
  type SessionServiceOptions,
} from '../../../js/index.js';
import type { CallDiagnostic } from '../../../js/values/model/diagnostic.js';
import type {
  Decide,
  StorageCall,
  StorageDeleteRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../../../js/core/storage/index.js';
import {
  begin,
  everyCall,
  failNextAppend,
  failure,
  KEY,
  openOver,
  overStorages,
  says,
  USER,
} from './fixture.js';
import { gate, MapStorage } from './map_storage.js';

/** Options of a service, and the list of what it reports. */
function listening(options: SessionServiceOptions = {}) {
  const seen: Diagnostic[] = [];
  return { seen, options: { ...options, onDiagnostic: (one: Diagnostic) => seen.push(one) } };
}

function calls(seen: readonly Diagnostic[]): CallDiagnostic[] {
  return seen.filter((diagnostic) => diagnostic.kind === 'call');
}

/** Without the duration, which no test can know. */
function timeless(seen: readonly Diagnostic[]): object[] {
  return calls(seen).map(({ durationMs, ...others }) => {
    assert.ok(durationMs >= 0 && durationMs < 10_000, String(durationMs));
    return others;
  });
}

overStorages('`onDiagnostic`', (open) => {
  it('is called once for each call, before the caller goes on', async () => {
    const { seen, options } = listening();
    const { service, session } = await begin(open, {}, options);
    seen.length = 0;
    const names = [
      ...['createSession', 'getSession', 'getOrCreateSession', 'listSessions', 'deleteSession'],
      'deleteSessions',
      ...['appendEvent', 'appendEvents', 'updateSession', 'updateState'],
      ...['getUserState', 'getAppState'],
      ...['deleteUser', 'deleteUserState', 'deleteAppState'],
    ];
    const every = everyCall(service, session, says('x'));
    assert.equal(every.length, names.length);
    for (const call of every) {
      const before = seen.length;
      await call().catch(() => undefined);
      assert.equal(seen.length, before + 1);
    }
    await service.ping();
    assert.deepEqual(
      calls(seen).map(({ method }) => method),
      [...names, 'ping'],
    );
  });

  it('gets rows, the size of the group and the code of an error, and no ids', async () => {
    const { seen, options } = listening();
    const { service, session } = await begin(open, { secret: 'tea' }, options);
    seen.length = 0;
    const { kind: storage } = service.storage;
    await service.appendEvents({ session, events: [says('one'), says('two')] });
    await service.appendEvent({ session, event: createEvent({ partial: true }) });
    await service.getSession(KEY);
    await service.getSession({ ...KEY, sessionId: 'none' });
    await service.listSessions(USER);
    await failure(service.createSession(KEY), 'already_exists');
    await failure(service.createSession({ appName: '', userId: 'ada' }), 'invalid_argument');
    const call = { kind: 'call', storage, retries: 0 };
    assert.deepEqual(timeless(seen), [
      { ...call, method: 'appendEvents', rows: 2, groupSize: 1 },
      { ...call, method: 'appendEvent', rows: 0 },
      { ...call, method: 'getSession', rows: 2 },
      { ...call, method: 'getSession', rows: 0 },
      { ...call, method: 'listSessions', rows: 1 },
      { ...call, method: 'createSession', code: 'already_exists' },
      { ...call, method: 'createSession', code: 'invalid_argument' },
    ]);
  });

  it('that throws does not fail the call', async (t) => {
    const thrown: unknown[] = [];
    const hooks = globalThis as { reportError?: (error: unknown) => void };
    hooks.reportError = (error) => thrown.push(error);
    t.after(() => delete hooks.reportError);
    const fault = new Error('of the listener');
    const service = await open({
      onDiagnostic() {
        throw fault;
      },
    });
    await service.createSession(KEY);
    assert.deepEqual(thrown, [fault]);
  });

  it('is refused if it is not a function', async () => {
    await failure((async () => open({ onDiagnostic: 'console' as never }))(), 'invalid_argument');
  });
});

describe('The diagnostics of appends that wait together', () => {
  it('have the size of their group', async () => {
    const storage = new MapStorage();
    const { seen, options } = listening();
    const service = await openOver(storage, options);
    const session = await service.createSession(KEY);
    const { opened, open } = gate();
    storage.pause = () => opened;
    const appends = ['one', 'two', 'three', 'four'].map((text) =>
      service.appendEvent({ session, event: says(text) }),
    );
    setTimeout(open, 5);
    await Promise.all(appends);
    const sizes = calls(seen)
      .slice(1)
      .map(({ groupSize = 0 }) => groupSize);
    assert.equal(sizes.length, 4);
    assert.ok(Math.max(...sizes) >= 3, sizes.join());
  });

  it('count the retry if the group fails', async () => {
    const storage = new MapStorage();
    const { seen, options } = listening();
    const service = await openOver(storage, options);
    const session = await service.createSession(KEY);
    failNextAppend(storage, 'before', new Error('busy'));
    await Promise.all(
      ['one', 'two'].map((text) => service.appendEvent({ session, event: says(text) })),
    );
    assert.equal(seen.length, 3);
    assert.deepEqual(
      calls(seen)
        .slice(1)
        .map(({ retries, groupSize, code }) => [retries, groupSize, code]),
      [
        [1, 1, undefined],
        [1, 1, undefined],
      ],
    );
  });
});

describe('The diagnostic of a call over a storage', () => {
  /** A storage of which each verb fails `failures` times, and is tried again. */
  class Repeating extends MapStorage {
    failures = 0;

    override append(request: StorageWriteRequest, decide: Decide) {
      return this.#repeated(request, () => super.append(request, decide));
    }

    override read(request: StorageReadRequest) {
      return this.#repeated(request, () => super.read(request));
    }

    override delete(request: StorageDeleteRequest) {
      return this.#repeated(request, () => super.delete(request));
    }

    async #repeated<T>({ onRetry }: StorageCall, attempt: () => T | Promise<T>): Promise<T> {
      for (let failed = 0; failed < this.failures; failed += 1) onRetry?.();
      return attempt();
    }
  }

  it('counts the retries that the storage reports, also if the call fails', async () => {
    const storage = new Repeating();
    const { seen, options } = listening();
    const service = await openOver(storage, options);
    const session = await service.createSession(KEY);
    storage.failures = 2;
    await service.appendEvent({ session, event: says('x') });
    await service.getSession(KEY);
    await service.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
    await failure(
      service.appendEvent({ session, event: says('y'), expectedRevision: 0 }),
      'stale_session',
    );
    await service.deleteSession(KEY);
    assert.deepEqual(
      calls(seen).map(({ method, retries, code }) => [method, retries, code]),
      [
        ['createSession', 0, undefined],
        ['appendEvent', 2, undefined],
        ['getSession', 2, undefined],
        ['updateState', 2, undefined],
        ['appendEvent', 2, 'stale_session'],
        ['deleteSession', 2, undefined],
      ],
    );
  });

  it('counts each retry once if appends share a write', async () => {
    const storage = new Repeating();
    const { seen, options } = listening();
    const service = await openOver(storage, options);
    const session = await service.createSession(KEY);
    storage.failures = 3;
    await Promise.all(
      ['one', 'two'].map((text) => service.appendEvent({ session, event: says(text) })),
    );
    assert.deepEqual(
      calls(seen).map(({ retries, groupSize }) => [retries, groupSize]),
      [
        [0, undefined],
        [3, 2],
        [3, 2],
      ],
    );
  });

  it('has no function to report retries without a listener', async () => {
    const storage = new Repeating();
    const service = await openOver(storage);
    const requests: object[] = [];
    const read = storage.read.bind(storage);
    storage.read = (request) => {
      requests.push(request);
      return read(request);
    };
    await service.getSession(KEY);
    assert.equal(requests.length, 1);
    assert.ok(!('onRetry' in requests[0]!));
  });
});

overStorages('`ping`', (open) => {
  it('resolves over a storage that answers, and rejects once the service is closed', async () => {
    const service = await open();
    assert.equal(await service.ping(), undefined);
    await service.close();
    await failure(service.ping(), 'closed');
  });
});

describe("`ping` over a storage of one's own", () => {
  it('rejects with the reason of the storage, and changes nothing', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    await service.ping();
    assert.equal(storage.sessions.size + storage.scopes.size, 0);
    storage.pause = () => Promise.reject(new Error('away'));
    assert.match((await failure(service.ping(), 'storage_failed')).message, /away/);
  });

  it('ends by its signal', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const { opened, open } = gate();
    storage.pause = () => opened;
    const signal = AbortSignal.timeout(5);
    // The timer of the signal alone does not keep Node running.
    const alive = setInterval(() => undefined, 1000);
    await failure(service.ping({ signal }), 'aborted');
    clearInterval(alive);
    open();
  });
});

it('A service without a listener measures nothing', async (t) => {
  const clock = t.mock.method(performance, 'now');
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: says('x') });
  assert.equal(clock.mock.callCount(), 0);
});
