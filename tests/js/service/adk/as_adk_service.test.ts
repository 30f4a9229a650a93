import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  BaseSessionService,
  createEvent,
  createEventActions,
  LlmAgent,
  Runner,
  type Session,
  State,
} from '@google/adk';
// The built package, while the other imports are its sources.
import { InMemorySessionService as OtherCopy } from 'adk-session-wasm';

import {
  asAdkService,
  IndexedDbSessionService as FrameworkIndexedDbService,
  InMemorySessionService as FrameworkInMemoryService,
} from '../../../../js/service/adk/index.js';
import {
  type AppendedEvent,
  type AppendEventRequest,
  type AppendEventsRequest,
  type SessionService as OurService,
  IndexedDbSessionService,
  InMemorySessionService,
  isSessionError,
  type NewEvent,
  openSessionService,
  type StateShape,
} from '../../../../js/index.js';

import { liveSession } from '../../../../js/ui/live/index.js';
import { sessionHandler } from '../../../../js/server/index.js';
import { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import { MapStorage } from '../map_storage.js';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

async function stored(service: BaseSessionService): Promise<Session> {
  const session = await service.getSession(key);
  assert.ok(session);
  return session;
}

/** A user's own service, which delegates to another one and cannot be watched. */
function inFrontOf(inner: OurService, onCall: (method: string) => void): OurService {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'watch' ? undefined : Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      onCall(String(name));
      return member.bind(target) as unknown;
    },
  });
}

/** The methods of every service of this package. */
type Method = Exclude<keyof StoredSessionService, 'artifacts' | 'storage' | symbol>;

/** The names of the methods that a class adds to its base. */
const methodsOf = ({ prototype }: { readonly prototype: object }): string[] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
    .map(([name]) => name);

/** Puts the name and the arguments of each call of a method into `calls`. */
function recorded(inner: OurService, calls: unknown[][]): OurService {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        calls.push([name, ...args]);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}

/** A write through the framework's State, in an event that is still to be appended. */
function write(state: Record<string, unknown>, value: unknown) {
  const stateDelta: Record<string, unknown> = {};
  new State(state, stateDelta).set('k', value);
  return createEvent({ author: 'agent', actions: { ...createEventActions(), stateDelta } });
}

/** Appends two writes of one key, the newer one first. */
async function appendSwapped(service: BaseSessionService, session: Session): Promise<void> {
  const [older, newer] = [write(session.state, 1), write(session.state, 2)];
  await service.appendEvent({ session, event: newer });
  await service.appendEvent({ session, event: older });
}

describe('asAdkService', () => {
  it("makes a service that the framework's Runner accepts", async () => {
    const service = asAdkService(new InMemorySessionService());
    assert.ok(service instanceof BaseSessionService);
    await service.createSession(key);
    const agent = new LlmAgent({
      name: 'guide',
      beforeAgentCallback: ({ state }) => {
        state.set('topic', 'tea');
        return { role: 'model', parts: [{ text: 'done' }] };
      },
    });
    const runner = new Runner({ appName: key.appName, agent, sessionService: service });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    const authors: (string | undefined)[] = [];
    for await (const { author } of runner.runAsync({ ...key, newMessage })) authors.push(author);
    assert.deepEqual(authors, ['guide']);
    assert.deepEqual((await stored(service)).state, { topic: 'tea' });
  });

  it("uses the framework's order of writes over any storage", async () => {
    for (const storage of [new MapStorage(), 'memory' as const]) {
      const service = asAdkService(await openSessionService({ storage }));
      const session = await service.createSession(key);
      await appendSwapped(service, session);
      assert.deepEqual([session.state, (await stored(service)).state], [{ k: 2 }, { k: 2 }]);
    }
  });

  it('keeps the order of writes for a handle that the given service read', async () => {
    const ours = new InMemorySessionService();
    const session = await ours.createSession(key);
    await appendSwapped(asAdkService(ours), session);
    assert.deepEqual(session.state, { k: 2 });
  });

  it("uses that order for a service inside the user's own service, even one that waits", async () => {
    const called = new Set<string>();
    class Waiting extends InMemorySessionService {
      override async appendEvents<E extends NewEvent>(
        request: AppendEventsRequest<StateShape, E>,
      ): Promise<AppendedEvent<E>[]> {
        await new Promise((resolve) => setImmediate(resolve));
        const { session, events } = request;
        return super.appendEvents({ session: { ...session }, events });
      }
    }
    for (const inner of [new InMemorySessionService(), new Waiting()]) {
      const service = asAdkService(inFrontOf(inner, (method) => called.add(method)));
      const session = await service.createSession(key);
      const [older, newer] = [write(session.state, 1), write(session.state, 2)];
      await service.appendEvents({ session, events: [newer, older] });
      assert.deepEqual([session.state, (await stored(service)).state], [{ k: 2 }, { k: 2 }]);
    }
    assert.ok(called.has('appendEvents'));
  });

  it('uses that order for a service of another copy of this package', async () => {
    const service = asAdkService(new OtherCopy());
    const session = await service.createSession(key);
    await appendSwapped(service, session);
    assert.deepEqual([session.state, (await stored(service)).state], [{ k: 2 }, { k: 2 }]);
  });

  it('appends through a stale handle without foreign events, unless its options say otherwise', async () => {
    for (const [options, events] of [
      [undefined, 1],
      [{}, 1],
      [{ stale: undefined }, 1],
      [{ stale: 'append' }, 1],
      [{ stale: 'merge' }, 2],
    ] as const) {
      const service = asAdkService(new InMemorySessionService({ stale: 'reject' }), options);
      const session = await service.createSession(key);
      await service.appendEvent({ session: await stored(service), event: write({}, 1) });
      await service.appendEvent({ session, event: write({}, 2) });
      assert.equal(session.events.length, events);
    }
    const strict = asAdkService(new InMemorySessionService(), { stale: 'reject' });
    const session = await strict.createSession(key);
    await strict.appendEvent({ session: await stored(strict), event: write({}, 1) });
    await assert.rejects(strict.appendEvent({ session, event: write({}, 2) }), (error) =>
      isSessionError(error, 'stale_session'),
    );
  });

  it('follows its own options for each append, through a handle that another view appends to meanwhile', async () => {
    class Waiting extends InMemorySessionService {
      override async appendEvent<E extends NewEvent>(
        request: AppendEventRequest<StateShape, E>,
      ): Promise<AppendedEvent<E>> {
        await new Promise((resolve) => setImmediate(resolve));
        return super.appendEvent(request);
      }
    }
    const ours = new Waiting();
    const merging = asAdkService(ours, { stale: 'merge' });
    const appending = asAdkService(ours, { stale: 'append' });
    const session = await merging.createSession(key);
    await merging.appendEvent({ session: await stored(merging), event: write({}, 1) });
    await Promise.all([
      merging.appendEvent({ session, event: write({}, 2) }),
      appending.appendEvent({ session, event: write({}, 3) }),
    ]);
    assert.equal(session.events.length, 3, 'the first append has merged');
  });

  for (const storage of ['memory', new MapStorage()] as const) {
    it(`leaves the given service as it is, over ${storage === 'memory' ? storage : 'a storage'}`, async () => {
      const ours = await openSessionService({ storage });
      const view = asAdkService(ours);
      const viewed = await view.createSession(key);
      const session = await ours.getSession(key);
      assert.ok(session);
      await view.appendEvent({ session: viewed, event: write({}, 1) });
      await ours.appendEvent({ session, event: { invocationId: 'ours' } });
      assert.equal(session.events.length, 2, 'the service merges');
      assert.equal(viewed.events.length, 1, 'the view does not');
    });
  }

  it('shows the revisions of handles, and notices', async () => {
    const service = asAdkService(new InMemorySessionService());
    await using notices = service.watch({ appName: 'app' });
    const session = await service.createSession(key);
    const { value: notice } = await notices.next();
    assert.equal(notice?.type, 'created');
    assert.equal(service.revisionOf(session), notice.revision);
    assert.equal(service.revisionOf({ ...session, state: {} }), undefined);
  });

  it('reports that a service cannot be watched', () => {
    const service = asAdkService(inFrontOf(new InMemorySessionService(), () => undefined));
    assert.throws(
      () => service.watch({ appName: 'app' }),
      (error) => isSessionError(error, 'unsupported'),
    );
  });

  it('can be shown live and served over HTTP', async () => {
    const service = new FrameworkInMemoryService();
    const session = await service.createSession(key);
    const store = liveSession(service, key);
    const stop = store.subscribe(() => undefined);
    await service.appendEvent({ session, event: createEvent({ id: 'e1', author: 'user' }) });
    await store.send({ id: 'e2', author: 'user' });
    assert.deepEqual(store.getSnapshot().events.map(({ id }) => id), ['e1', 'e2']); // prettier-ignore
    stop();
    const handler = sessionHandler(service, { authorize: () => true });
    const response = await handler(new Request('http://localhost/apps/app/users/u/sessions/s'));
    assert.equal(((await response.json()) as Session).events.length, 2);
  });

  it('passes on every method of a service, with what it is given', async () => {
    const inner = new InMemorySessionService();
    const session = await inner.createSession(key);
    const { signal } = new AbortController();
    const request = { ...key, signal };
    const event = createEvent({ author: 'user' });
    const other = { ...request, sessionId: 'other' };
    const list = { appName: 'app', limit: 2, order: 'desc', stateKeys: [], signal } as const;
    const given: Record<Method, readonly unknown[]> = {
      createSession: [other],
      getOrCreateSession: [{ ...request, config: { view: 'raw' } }],
      getSession: [{ ...request, config: { numRecentEvents: 1, view: 'raw' } }],
      listSessions: [{ ...list, withTotal: false }],
      sessions: [list],
      listEvents: [{ ...request, limit: 1 }],
      getEvents: [{ ...request, eventIds: [] }],
      listChanges: [{ ...request, since: 1 }],
      events: [{ ...request, order: 'desc' }],
      loadOlder: [session, 3, { signal }],
      appendEvent: [{ session, event, signal }],
      appendEvents: [{ session, events: [event], signal }],
      updateState: [{ ...request, stateDelta: { a: 1 } }],
      updateSession: [request, { title: 'Tea' }],
      sessionInfo: [request],
      getUserState: [{ appName: 'app', userId: 'u', signal }],
      getAppState: [{ appName: 'app', signal }],
      watch: [{ appName: 'app' }, { signal }],
      revisionOf: [session],
      ping: [{ signal }],
      deleteSession: [other],
      deleteSessions: [{ appName: 'app', labels: { old: 'yes' } }, { signal }],
      deleteUserState: [{ appName: 'app', userId: 'u', signal }],
      deleteAppState: [{ appName: 'app', signal }],
      deleteUser: [{ appName: 'app', userId: 'u', signal }],
      close: [{ timeoutMs: 1000 }],
    };
    const calls: unknown[][] = [];
    const view: object = asAdkService(recorded(inner, calls));
    for (const name of methodsOf(StoredSessionService)) {
      calls.length = 0;
      const args: readonly unknown[] | undefined = given[name as Method];
      assert.ok(args, `the test has no call of ${name}`);
      const member: unknown = Reflect.get(view, name);
      assert.ok(typeof member === 'function', name);
      await Reflect.apply(member, view, args);
      assert.equal(calls.length, 1, name);
      const [passed = []] = calls;
      assert.equal(passed[0], name);
      assert.ok(args.every((argument, at) => passed[at + 1] === argument), name); // prettier-ignore
    }
    for (const [ours, framework] of [
      [InMemorySessionService, FrameworkInMemoryService],
      [IndexedDbSessionService, FrameworkIndexedDbService],
    ] as const) {
      for (const name of methodsOf(ours)) assert.ok(name in framework.prototype, name);
    }
  });

  it('has methods that a subclass overrides and calls, and that no loop over its members finds', async () => {
    const deleted: string[] = [];
    class Noting extends FrameworkInMemoryService {
      override deleteSession(request: Parameters<FrameworkInMemoryService['deleteSession']>[0]) {
        deleted.push(request.sessionId);
        return super.deleteSession(request);
      }

      override sessions(request: Parameters<FrameworkInMemoryService['sessions']>[0]) {
        return super.sessions({ ...request, order: 'desc' });
      }
    }
    const service = new Noting();
    for (const [at, sessionId] of ['s', 's2'].entries()) {
      const imported = { ...key, sessionId, lastUpdateTime: at + 1 };
      await service.createSession(imported);
    }
    const { appName } = key;
    const walked = [];
    for await (const { id } of service.sessions({ appName })) walked.push(id);
    assert.deepEqual(walked, ['s2', 's']);
    await service.deleteSession(key);
    assert.equal(await service.getSession(key), undefined);
    assert.deepEqual(deleted, ['s']);
    const names = [];
    for (const name in service) names.push(name);
    assert.deepEqual(names, []);
  });

  it('reports methods that a service lacks', async () => {
    const bare = new Proxy(new InMemorySessionService(), {
      get: (target, name) =>
        name === 'ping' || name === 'events'
          ? undefined
          : (Reflect.get(target, name, target) as unknown),
    });
    const service = asAdkService(bare);
    await assert.rejects(service.ping(), { code: 'unsupported' });
    assert.throws(() => service.events(key), { code: 'unsupported' });
  });

  it('closes the service', async () => {
    const inner = new InMemorySessionService();
    await asAdkService(inner).close();
    await assert.rejects(inner.createSession(key), (error) => isSessionError(error, 'closed'));
  });

  for (const [what, service, options] of [
    ['nothing', undefined],
    ['a function', () => new InMemorySessionService()],
    ['something else', { getSession: () => undefined }],
    ['a promise', openSessionService({ storage: 'memory' })],
    ['an invalid option', new InMemorySessionService(), { stale: 'never' }],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => asAdkService(service as never, options as never),
        (error) => isSessionError(error, 'invalid_argument'),
      );
    });
  }
});
