// A program that ends at any of its requests to the local storage: the next one on the same storage loses nothing that
// was acknowledged, and sends nothing twice.

import assert from 'node:assert/strict';
import { after, before, it, mock } from 'node:test';

import { SessionError } from '../../../js/index.js';
import { CachedSessionService } from '../../../js/cache/index.js';
import { CoreStore } from '../../../js/storage/core_store.js';
import { createMemoryCore } from '../../../js/wasm/core.js';
import { loadWasm } from '../../../js/wasm/loading.js';
import { linkedStore, type Pass, serviceOver } from '../../simulation/cache/linked_service.js';
import { Remote } from '../../simulation/cache/remote.js';
import { CrashedCalls } from '../../simulation/run/crashed_calls.js';
import { event, idsOf, KEY, USER } from './fixture.js';

/** Longer than the lease of a program that has crashed while it was sending. */
const LEASE_ENDS = 5000;

before(async () => {
  await loadWasm(true);
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
});
after(() => mock.timers.reset());

/** A local storage, and the programs that use it one after the other. */
class Device {
  readonly remote = new Remote();
  isOffline = false;
  readonly #store = new CoreStore(createMemoryCore(), true);
  readonly #crashedCalls = new CrashedCalls();

  /** Starts a program. `crashAt` makes it end at one of its next local requests, before the request takes effect. */
  open() {
    let left = Infinity;
    let crash!: () => void;
    const crashed = new Promise<void>((resolve) => (crash = resolve));
    const passToLocal: Pass = (_verb, run) => {
      if (left > 0) left -= 1;
      if (left > 0) return Promise.resolve().then(run);
      crash();
      return this.#crashedCalls.wait();
    };
    const passToRemote: Pass = async (_verb, run) => {
      if (left === 0) return this.#crashedCalls.wait();
      if (this.isOffline) throw new SessionError('connection_lost', 'There is no connection.');
      const result = await run();
      return left === 0 ? this.#crashedCalls.wait() : result;
    };
    const cache = new CachedSessionService({
      owner: 'ada',
      remote: serviceOver('remote', linkedStore(this.remote.store, passToRemote)),
      local: serviceOver('memory', linkedStore(this.#store, passToLocal)),
    });
    const end = (): void => {
      left = 0;
      this.#crashedCalls.drop(cache);
      mock.timers.tick(LEASE_ENDS);
    };
    return { cache, crashed, crashAt: (request: number) => (left = request), end };
  }

  async end(): Promise<void> {
    await this.#crashedCalls.end();
    this.#store.free();
    this.remote.end();
  }
}

/** What a session is after everything is sent. `undefined`: there is none. */
type Content = ReturnType<typeof contentOf>;

function contentOf(session: Awaited<ReturnType<CachedSessionService['getSession']>>) {
  if (session === undefined) return undefined;
  const { state, title, labels } = session;
  return { ids: idsOf(session), state: { ...state }, title, labels };
}

function content(ids: readonly string[], state: object, others: object = {}): Content {
  return { ids: [...ids], state: { ...state }, title: undefined, labels: undefined, ...others };
}

interface Operation {
  /** What was there before. */
  readonly prepare?: (cache: CachedSessionService, device: Device) => Promise<unknown>;
  /** Whether the operation runs without a connection. */
  readonly isOffline: boolean;
  readonly run: (cache: CachedSessionService) => Promise<unknown>;
  /** Whether it writes an event several times. Each version then arrives. */
  readonly isRewriting?: boolean;
  /** What others do on the remote after the crash. */
  readonly meanwhile?: (remote: Remote) => Promise<unknown>;
  /** What may be there at the end if the operation was not acknowledged. */
  readonly before: Content;
  readonly after: Content;
}

/** Runs an operation again and again, and crashes each time one local request later. */
function survives(title: string, operation: Operation): void {
  it(`${title} survives a crash at each of its local requests`, async () => {
    for (let request = 1; await crashes(operation, request); request += 1);
  });
}

/** @returns whether the operation made so many local requests */
async function crashes(operation: Operation, request: number): Promise<boolean> {
  const device = new Device();
  const first = device.open();
  await operation.prepare?.(first.cache, device);
  first.end();

  const second = device.open();
  // The operation begins when the sending of what the first program left is over, or waits for a connection.
  await second.cache.sync().catch(() => undefined);
  device.isOffline = operation.isOffline;
  let isAcknowledged = false;
  second.crashAt(request);
  const done = operation.run(second.cache).then(() => (isAcknowledged = true));
  const sent = done.then(() => (operation.isOffline ? undefined : second.cache.sync()));
  const hasCrashed = await Promise.race([sent.then(() => false), second.crashed.then(() => true)]);
  sent.catch(() => undefined);
  second.end();

  device.isOffline = false;
  await operation.meanwhile?.(device.remote);
  const { cache, end } = device.open();
  // The second time it receives the titles of what was sent.
  for (let times = 2; times > 0; times -= 1) await cache.sync();
  const where = `a crash at request ${request}`;
  assert.deepEqual(await cache.outbox.list(), [], where);
  const stored = contentOf(await device.remote.service.getSession(KEY));
  assert.deepEqual(contentOf(await cache.getSession(KEY)), stored, where);
  const { before: unchanged, after: changed } = operation;
  const isUnchanged = JSON.stringify(stored) === JSON.stringify(unchanged);
  if (isAcknowledged || !isUnchanged) assert.deepEqual(stored, changed, where);
  for (const [mark, count] of device.remote.arrivals) {
    assert.ok(
      count === 1 || operation.isRewriting === true,
      `${where}: ${mark} arrives ${count} times`,
    );
  }
  end();
  await device.end();
  return hasCrashed;
}

/** Leaves two unsent events. */
function unsentEvents(isCreated: boolean) {
  return async (cache: CachedSessionService, device: Device): Promise<void> => {
    device.isOffline = !isCreated;
    const session = await cache.createSession({ ...KEY, state: { kept: 1 } });
    if (isCreated) await cache.sync();
    device.isOffline = true;
    await cache.appendEvents({
      session,
      events: [event('e1', { wrong: 1 }), event('e2', { n: 2 })],
    });
  };
}

async function getSession(cache: CachedSessionService) {
  return (await cache.getSession(KEY))!;
}

/** Another program appends. */
async function appendOnRemote({ service }: Remote, id: string, delta = {}): Promise<void> {
  const session = await service.getOrCreateSession(KEY);
  await service.appendEvent({ session, event: event(id, delta) });
}

async function recreateOnRemote({ service }: Remote): Promise<void> {
  await service.deleteSession(KEY);
  await service.createSession({ ...KEY, state: { again: 1 } });
}

for (const isOffline of [true, false]) {
  const kind = isOffline ? 'without a connection' : 'that is sent at once';

  survives(`a creation ${kind}`, {
    isOffline,
    run: (cache) => cache.createSession({ ...KEY, state: { topic: 'tea', 'user:name': 'Ada' } }),
    before: undefined,
    after: content([], { topic: 'tea', 'user:name': 'Ada' }),
  });

  survives(`a creation with events ${kind}`, {
    isOffline,
    run: (cache) =>
      cache.createSession({
        ...KEY,
        state: { topic: 'tea' },
        events: [event('e1', { n: 1, 'user:kept back': 1 })],
        stateDelta: { n: 2 },
        sharedState: 'keep',
      }),
    before: undefined,
    after: content(['e1'], { topic: 'tea', n: 2 }),
  });

  survives(`an append ${kind}`, {
    prepare: (cache) => cache.createSession(KEY).then(() => cache.sync()),
    isOffline,
    run: async (cache) =>
      cache.appendEvents({
        session: await getSession(cache),
        events: [event('e1', { n: 1 }), event('e2', { 'user:m': 2 })],
      }),
    before: content([], {}),
    after: content(['e1', 'e2'], { n: 1, 'user:m': 2 }),
  });

  survives(`a replacement of an unsent event ${kind}`, {
    prepare: unsentEvents(true),
    isOffline,
    isRewriting: true,
    run: async (cache) =>
      cache.appendEvent({ session: await getSession(cache), event: event('e1', { right: 1 }) }),
    before: content(['e1', 'e2'], { kept: 1, wrong: 1, n: 2 }),
    after: content(['e1', 'e2'], { kept: 1, wrong: 1, n: 2, right: 1 }),
  });

  for (const isCreated of [true, false]) {
    const of = isCreated ? 'that the remote has' : 'whose creation waits';

    survives(`outbox.change of an event of a session ${of}, ${kind},`, {
      prepare: unsentEvents(isCreated),
      isOffline,
      run: (cache) => cache.outbox.change(KEY, event('e1', { right: 1 })),
      before: content(['e1', 'e2'], { kept: 1, wrong: 1, n: 2 }),
      after: content(['e1', 'e2'], { kept: 1, n: 2, right: 1 }),
    });

    survives(`outbox.drop of an event of a session ${of}, ${kind},`, {
      prepare: unsentEvents(isCreated),
      isOffline,
      run: (cache) => cache.outbox.drop(KEY, 'e1'),
      before: content(['e1', 'e2'], { kept: 1, wrong: 1, n: 2 }),
      after: content(['e2'], { kept: 1, n: 2 }),
    });
  }

  survives(`a change of a title and labels ${kind}`, {
    prepare: (cache) => cache.createSession(KEY).then(() => cache.sync()),
    isOffline,
    run: (cache) => cache.updateSession(KEY, { title: 'Tea', labels: { kind: 'shop' } }),
    before: content([], {}),
    after: content([], {}, { title: 'Tea', labels: { kind: 'shop' } }),
  });

  survives(`a deletion ${kind}`, {
    prepare: (cache) => cache.createSession(KEY).then(() => cache.sync()),
    isOffline,
    run: (cache) => cache.deleteSession(KEY),
    before: content([], {}),
    after: undefined,
  });
}

survives('a fetch of a new session', {
  prepare: (_, { remote }) => appendOnRemote(remote, 'e1', { n: 1 }),
  isOffline: false,
  run: (cache) => cache.getSession(KEY),
  before: content(['e1'], { n: 1 }),
  after: content(['e1'], { n: 1 }),
});

survives('a fetch of a session that the remote deletes and creates again after the crash', {
  prepare: (_, { remote }) => appendOnRemote(remote, 'e1', { n: 1 }),
  isOffline: false,
  run: (cache) => cache.getSession(KEY),
  meanwhile: recreateOnRemote,
  before: content([], { again: 1 }),
  after: content([], { again: 1 }),
});

survives('a list of sessions, of which the remote creates one again after the crash,', {
  prepare: (_, { remote }) => appendOnRemote(remote, 'e1', { n: 1 }),
  isOffline: false,
  run: (cache) => cache.listSessions(USER),
  meanwhile: recreateOnRemote,
  before: content([], { again: 1 }),
  after: content([], { again: 1 }),
});

survives('a fetch of what others have appended', {
  prepare: async (cache, { remote }) => {
    await appendOnRemote(remote, 'e1', { n: 1 });
    await cache.getSession(KEY);
    await appendOnRemote(remote, 'e2', { n: 2 });
  },
  isOffline: false,
  run: (cache) => cache.sync(),
  before: content(['e1', 'e2'], { n: 2 }),
  after: content(['e1', 'e2'], { n: 2 }),
});

survives('a fetch behind which unsent events stand', {
  prepare: async (cache, device) => {
    await appendOnRemote(device.remote, 'e1', { n: 1 });
    const session = await getSession(cache);
    device.isOffline = true;
    await cache.appendEvent({ session, event: event('ours', { n: 'ours' }) });
    await appendOnRemote(device.remote, 'theirs', { n: 'theirs', m: 2 });
  },
  isOffline: false,
  run: (cache) => cache.sync(),
  before: content(['e1', 'theirs', 'ours'], { n: 'ours', m: 2 }),
  after: content(['e1', 'theirs', 'ours'], { n: 'ours', m: 2 }),
});

survives('the sending of all kinds of changes', {
  prepare: async (cache, device) => {
    device.isOffline = true;
    const session = await cache.createSession({ ...KEY, state: { kept: 1 } });
    await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
    await cache.appendEvent({ session, event: event('e1', { m: 2 }) });
    await cache.updateSession(KEY, { title: 'Tea' });
    await cache.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
  },
  isOffline: false,
  isRewriting: true,
  run: (cache) => cache.sync(),
  before: content(['e1'], { kept: 1, n: 1, m: 2, 'user:name': 'Ada' }, { title: 'Tea' }),
  after: content(['e1'], { kept: 1, n: 1, m: 2, 'user:name': 'Ada' }, { title: 'Tea' }),
});
