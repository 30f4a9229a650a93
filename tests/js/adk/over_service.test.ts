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

import { overService } from '../../../js/adk/index.js';
import {
  type BaseSessionService as OurService,
  InMemorySessionService,
  isSessionError,
  openSessionService,
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

describe('overService', () => {
  it("makes a service that the framework's Runner accepts", async () => {
    const service = overService((options) => new InMemorySessionService(options));
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

  it("uses the framework's order of writes for a service that is opened later", async () => {
    const storage = new MapStorage();
    const service = await overService((options) => openSessionService({ storage, ...options }));
    const session = await service.createSession(key);
    const [older, newer] = [write(session.state, 1), write(session.state, 2)];
    await service.appendEvent({ session, event: newer });
    await service.appendEvent({ session, event: older });
    assert.deepEqual([session.state, (await stored(service)).state], [{ k: 2 }, { k: 2 }]);
    assert.equal(service.storage.kind, 'map');
  });

  it("uses that order for a service inside the user's own service", async () => {
    const called = new Set<string>();
    const service = overService((options) => {
      return inFrontOf(new InMemorySessionService(options), (method) => called.add(method));
    });
    const session = await service.createSession(key);
    const [older, newer] = [write(session.state, 1), write(session.state, 2)];
    await service.appendEvents({ session, events: [newer, older] });
    assert.deepEqual([session.state, (await stored(service)).state], [{ k: 2 }, { k: 2 }]);
    assert.ok(called.has('appendEvents'));
  });

  it('appends through a stale handle without foreign events, unless configured otherwise', async () => {
    for (const [stale, events] of [
      ['append', 1],
      ['merge', 2],
    ] as const) {
      const service = overService(({ stateWriter }) => {
        return new InMemorySessionService({ stateWriter, stale });
      });
      const session = await service.createSession(key);
      const event = () => write({}, stale);
      await service.appendEvent({ session: await stored(service), event: event() });
      await service.appendEvent({ session, event: event() });
      assert.equal(session.events.length, events);
    }
    const asGiven = overService((options) => new InMemorySessionService(options));
    const session = await asGiven.createSession(key);
    await asGiven.appendEvent({ session: await stored(asGiven), event: write({}, 1) });
    await asGiven.appendEvent({ session, event: write({}, 2) });
    assert.equal(session.events.length, 1);
  });

  it('reports that a service cannot be watched', () => {
    const service = overService((options) => {
      return inFrontOf(new InMemorySessionService(options), () => undefined);
    });
    assert.throws(
      () => service.watch({ appName: 'app' }),
      (error) => isSessionError(error, 'unsupported'),
    );
  });

  it('closes the service', async () => {
    let inner: OurService | undefined;
    const service = overService((options) => (inner = new InMemorySessionService(options)));
    await service.close();
    await assert.rejects(inner!.createSession(key), (error) => isSessionError(error, 'closed'));
  });

  for (const [what, open] of [
    ['nothing', undefined],
    ['a service instead of a function', new InMemorySessionService()],
    ['a function that makes nothing', () => undefined],
    ['a function that makes something else', () => ({ getSession: () => undefined })],
    ['a function that makes a promise of something else', async () => 'memory'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(
        async () => overService(open as never),
        (error) => isSessionError(error, 'invalid_argument'),
      );
    });
  }
});

describe('A stateWriter', () => {
  for (const stateWriter of [null, {}, 'ours', { recordOrder: () => undefined }]) {
    it(`that is ${JSON.stringify(stateWriter)} is refused`, () => {
      assert.throws(
        () => new InMemorySessionService({ stateWriter: stateWriter as never }),
        (error) => isSessionError(error, 'invalid_argument') && error.key === 'stateWriter',
      );
    });
  }
});
