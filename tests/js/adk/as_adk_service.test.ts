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

import { asAdkService } from '../../../js/adk/index.js';
import {
  type AppendedEvent,
  type AppendEventsRequest,
  type BaseSessionService as OurService,
  InMemorySessionService,
  isSessionError,
  type NewEvent,
  openSessionService,
  type StateShape,
} from '../../../js/index.js';

import { MapStorage } from '../service/map_storage.js';

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

  for (const storage of ['memory', new MapStorage()] as const) {
    it(`leaves the given service as it is, over ${storage === 'memory' ? storage : 'an adapter'}`, async () => {
      const ours = await openSessionService({ storage });
      const view = asAdkService(ours);
      const viewed = await view.createSession(key);
      const session = await ours.getSession(key);
      assert.ok(session);
      await view.appendEvent({ session: viewed, event: write({}, 1) });
      await ours.appendEvent({ session, event: createEvent({ invocationId: 'ours' }) });
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
    ['an unknown option', new InMemorySessionService(), { stael: 'merge' }],
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
