import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';

import {
  type BaseSessionService,
  createEvent,
  createEventActions,
  type Event,
  InMemorySessionService as FrameworkMemory,
  LogLevel,
  type Session,
  setLogLevel,
  State,
} from '@google/adk';

import {
  type FrameworkSessionService,
  InMemorySessionService,
  openSessionService,
} from '../../../../js/service/adk/index.js';
import { FrameworkStateWriter } from '../../../../js/service/adk/framework_state_writer.js';
import { isSessionError } from '../../../../js/values/errors/errors.js';
import { REMOVED } from '../../../../js/values/state/scope.js';
import { snapshotEvent } from '../../../../js/values/model/event/snapshot.js';
import { failNextAppend, failure } from '../fixture.js';
import { MapStorage } from '../map_storage.js';

// One test causes a warning of the framework's own service.
setLogLevel(LogLevel.ERROR);

const key = { appName: 'app', userId: 'u', sessionId: 's' };

async function stored(service: BaseSessionService): Promise<Session> {
  const session = await service.getSession(key);
  assert.ok(session);
  return session;
}

interface Bench {
  service: FrameworkSessionService;
  session: Session;
  /** A write through the framework's State, in an event that is still to be appended. */
  write: (key: string, value: unknown, branch?: string) => Event;
  append: (event: Event) => Promise<Event>;
  storedState: () => Promise<Record<string, unknown>>;
}

async function bench(
  service: FrameworkSessionService = new InMemorySessionService(),
): Promise<Bench> {
  const session = await service.createSession(key);
  return {
    service,
    session,
    write: (key, value, branch) => {
      const stateDelta: Record<string, unknown> = {};
      new State(session.state, stateDelta).set(key, value);
      return made(stateDelta, branch);
    },
    append: (event) => service.appendEvent({ session, event }),
    storedState: async () => (await stored(service)).state,
  };
}

/** An event whose delta was made by hand, as `outputKey` makes it. */
function made(stateDelta: Record<string, unknown>, branch?: string): Event {
  const actions = { ...createEventActions(), stateDelta };
  return createEvent({ author: 'agent', actions, ...(branch !== undefined && { branch }) });
}

describe('The order of writes to one key', () => {
  it('keeps the last stored write when an older one follows and a third is pending', async () => {
    const { session, write, append, storedState } = await bench();
    const [first, second] = [write('k', 1), write('k', 2)];
    const third = write('k', 3);
    await append(second);
    await append(first);
    assert.deepEqual(await storedState(), { k: 2 });
    assert.equal(session.state.k, 3);
    assert.deepEqual(first.actions.stateDelta, {});
    await append(third);
    assert.deepEqual(await storedState(), { k: 3 });
  });

  it('dates objects by their writes, not by their contents', async () => {
    const { session, write, append, storedState } = await bench();
    const [first, second] = [write('k', { n: 1 }), write('k', { n: 2 })];
    await append(second);
    await append(first);
    assert.deepEqual([session.state.k, (await storedState()).k], [{ n: 2 }, { n: 2 }]);
  });

  it('dates a hand-made write to its append', async () => {
    const { session, write, append, storedState } = await bench();
    const older = write('k', 'written');
    await append(made({ k: 'by hand' }));
    await append(older);
    assert.deepEqual([session.state.k, (await storedState()).k], ['by hand', 'by hand']);
    await append(write('k', 'written later'));
    assert.equal((await storedState()).k, 'written later');
  });

  it('treats a hand-made write as later than those before it in the same commit', async () => {
    const { service, session, write, storedState } = await bench();
    const older = write('k', 'written');
    await service.appendEvents({ session, events: [made({ k: 'by hand' }), older] });
    assert.deepEqual([session.state.k, (await storedState()).k], ['by hand', 'by hand']);
  });

  it('prefers a write made while a hand-made one is being stored', async () => {
    const service = await openSessionService({ storage: new MapStorage() });
    const { session, write, append, storedState } = await bench(service);
    const done = append(made({ k: 'by hand' }));
    const later = write('k', 'written');
    await done;
    await append(later);
    assert.deepEqual([session.state.k, (await storedState()).k], ['written', 'written']);
  });

  it('applies a write later than a hand-made one when it is appended again', async () => {
    const storage = new MapStorage();
    const { session, write, append, storedState } = await bench(
      await openSessionService({ storage }),
    );
    await append(made({ k: 'by hand' }));
    const later = write('k', 'written');
    failNextAppend(storage, 'before', new Error('no room'));
    await failure(append(later), 'storage_failed');
    assert.equal((await storedState()).k, 'by hand');
    await append(later);
    assert.deepEqual([session.state.k, (await storedState()).k], ['written', 'written']);
  });

  it('includes removals', async () => {
    const { session, write, append, storedState } = await bench();
    await append(write('k', 1));
    const [older, removal] = [write('k', 2), write('k', REMOVED)];
    await append(removal);
    assert.ok(!Object.hasOwn(session.state, 'k'));
    await append(older);
    assert.ok(!Object.hasOwn(session.state, 'k'));
    assert.deepEqual(await storedState(), {});
  });

  it('applies to several events of one commit', async () => {
    const { service, session, write, storedState } = await bench();
    const [first, second] = [write('k', 1), write('k', 2)];
    await service.appendEvents({
      session,
      events: [second, first, made({ l: 1 }), made({ l: 2 })],
    });
    assert.deepEqual(
      [session.state, await storedState()],
      [
        { k: 2, l: 2 },
        { k: 2, l: 2 },
      ],
    );
  });

  it('applies to keys that every object inherits', async () => {
    const { session, append, storedState } = await bench();
    const delta = JSON.parse('{"__proto__": 1, "toString": 2, "constructor": 3}') as object;
    await append(made({ ...delta }));
    await append(made({ ...delta, toString: 4 }));
    const expected = '{"__proto__":1,"toString":4,"constructor":3}';
    assert.equal(JSON.stringify(session.state), expected);
    assert.equal(JSON.stringify(await storedState()), expected);
  });

  it('ignores a failed append', async () => {
    const { session, write } = await bench();
    const writer = new FrameworkStateWriter((request) =>
      new FrameworkMemory().appendEvent(request),
    );
    const [older, newer] = [write('k', 1), write('k', 2)].map((event) => {
      return {
        snapshot: snapshotEvent(event, Date.now, randomUUID),
        order: writer.recordOrder(event),
      };
    });
    const ahead = new Map<string, never>();
    assert.deepEqual(writer.findSuperseded(session, newer!, ahead), []);
    // Its commit fails, so `applyDelta` is not called.
    assert.deepEqual(writer.findSuperseded(session, older!, ahead), []);
    writer.applyDelta(session, newer!);
    assert.deepEqual(writer.findSuperseded(session, older!, ahead), ['k']);
  });

  it('applies a write that is repeated after a failed append', async () => {
    const { session, write, append, storedState } = await bench();
    const bad = write('k', 1n);
    await assert.rejects(append(bad), (error) => isSessionError(error, 'unserializable'));
    const older = write('k', 2);
    await assert.rejects(append(write('k', 3n)));
    await append(older);
    assert.equal((await storedState()).k, 2);
    // 3n was written later, by an agent whose event failed: it stays where it was, on the handle.
    assert.equal(session.state.k, 3n);
  });
});

describe('An append', () => {
  it('that fails leaves handle and event unchanged', async () => {
    const { service, session, append } = await bench();
    await append(made({ k: 1, 'temp:t': 1 }));
    const before = { ...session, state: { ...session.state }, events: [...session.events] };
    const state = session.state;
    const event = made({ k: 2, l: 2, 'temp:t': 2, 'temp:u': 2 });
    const delta = event.actions.stateDelta;
    await service.deleteSession(key);
    await assert.rejects(append(event), (error) => isSessionError(error, 'not_found'));
    assert.deepEqual(session, before);
    assert.equal(session.state, state);
    assert.equal(event.actions.stateDelta, delta);
    assert.deepEqual(delta, { k: 2, l: 2, 'temp:t': 2, 'temp:u': 2 });
  });

  it('does not change the handle before it is stored', async () => {
    const { session, append } = await bench();
    const done = append(made({ k: 1n }));
    assert.deepEqual(session.state, {});
    await assert.rejects(done);
    assert.deepEqual(session.state, {});
  });

  it('is on the handle when it resolves, with all objects the same', async () => {
    const { session, append } = await bench();
    const { state, events } = session;
    const event = made({ k: 1 });
    assert.equal(await append(event), event);
    assert.equal(session.state, state);
    assert.equal(session.events, events);
    assert.deepEqual([state, events[0] === event], [{ k: 1 }, true]);
    assert.equal(session.lastUpdateTime, event.timestamp);
  });

  it('uses the delta as it is at the call', async () => {
    const { session, write, append, storedState } = await bench();
    const event = write('k', 1);
    const context = new State(session.state, event.actions.stateDelta);
    const done = append(event);
    context.set('k', 2);
    context.set('l', 2);
    await done;
    assert.deepEqual(await storedState(), { k: 1 });
    assert.deepEqual(event.actions.stateDelta, { k: 1 });
    assert.equal(session.state.l, 2);
  });

  it('gives the handle the stored form of an object with a toJSON', async () => {
    const { session, write, append, storedState } = await bench();
    const date = new Date(0);
    await append(write('at', date));
    assert.equal(session.state.at, '1970-01-01T00:00:00.000Z');
    assert.deepEqual(await storedState(), { at: '1970-01-01T00:00:00.000Z' });
  });

  it('of a stored event changes nothing', async () => {
    const { session, append, storedState } = await bench();
    const event = made({ k: 1 });
    await append(event);
    await append(made({ k: 2 }));
    await append(event);
    assert.deepEqual([session.state, await storedState()], [{ k: 2 }, { k: 2 }]);
    assert.equal(session.events.length, 2);
  });

  it('does not count a repetition as a write', async () => {
    const { write, append, storedState } = await bench();
    const event = made({ k: 1 });
    await append(event);
    const other = write('k', 2);
    await append(event);
    await append(other);
    assert.deepEqual(await storedState(), { k: 2 });
  });

  it('writes hand-made temp: keys again and again', async () => {
    const { session, append, storedState } = await bench();
    await append(made({ 'temp:draft': 1 }));
    await append(made({ 'temp:draft': 2 }, 'both.one'));
    await append(made({ 'temp:draft': 3 }, 'both.one'));
    await append(made({ 'temp:draft': 4 }));
    assert.deepEqual(session.state, { 'temp:draft': 4 });
    assert.deepEqual(await storedState(), {});
  });

  it('of a stale handle brings no foreign events, unless configured to merge', async () => {
    const { service, session, append } = await bench();
    await service.appendEvent({
      session: await stored(service),
      event: made({ foreign: 1, k: 1 }),
    });
    await append(made({ k: 2 }));
    assert.deepEqual([session.state, session.events.length], [{ k: 2 }, 1]);

    const merging = await bench(new InMemorySessionService({ stale: 'merge' }));
    const foreign = made({ foreign: 1, k: 1 });
    await merging.service.appendEvent({ session: await stored(merging.service), event: foreign });
    await merging.append(made({ k: 2 }));
    assert.deepEqual(merging.session.state, { k: 2, foreign: 1 });
    assert.deepEqual(await merging.storedState(), { k: 2, foreign: 1 });
    assert.equal(merging.session.events.length, 2);
  });

  it('does not merge if the option is undefined', async () => {
    const { service, session, append } = await bench(
      new InMemorySessionService({ stale: undefined }),
    );
    await service.appendEvent({ session: await stored(service), event: made({}) });
    await append(made({}));
    assert.equal(session.events.length, 1);
  });
});

describe('A framework with an unknown append', () => {
  it('is refused before a service is made', () => {
    const later = async ({ event }: { event: Event }) => Promise.resolve(event);
    const throwing = () => {
      throw new Error('not this way');
    };
    const noPromise = ({ event }: { event: Event }) => event as never;
    for (const append of [later, throwing, noPromise]) {
      assert.throws(
        () => new FrameworkStateWriter(append),
        (error) => isSessionError(error, 'unsupported'),
      );
    }
  });
});
