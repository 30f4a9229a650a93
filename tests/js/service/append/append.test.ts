import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, createEventActions, type Event } from '../../../../js/index.js';
import {
  begin,
  failNextAppend,
  failure,
  KEY,
  openOver,
  overStorages,
  says,
  stored,
  texts,
} from '../fixture.js';
import { MapStorage } from '../map_storage.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const bare = (fields: object = {}): Event => ({ invocationId: '', ...fields }) as Event;

overStorages('Appending an event', (open) => {
  it("fills in id, timestamp and actions, on the caller's event too", async () => {
    const { service, session } = await begin(open, {}, { clock: () => 5000.75 });
    const event = bare({ author: 'user' });
    assert.equal(await service.appendEvent({ session, event }), event);
    assert.match(event.id, UUID);
    assert.equal(event.timestamp, 5000);
    assert.deepEqual(event.actions, createEventActions());
    assert.deepEqual((await stored(service)).events, [event]);
  });

  it("uses the service's newId", async () => {
    let number = 0;
    const { service, session } = await begin(open, {}, { newId: () => `id-${(number += 1)}` });
    const event = bare({ id: '' });
    await service.appendEvent({ session, event });
    assert.equal(event.id, 'id-1');
  });

  it('keeps id and timestamp on the event when it fails', async () => {
    const { service, session } = await begin(open);
    await service.deleteSession(KEY);
    const event = bare();
    await failure(service.appendEvent({ session, event }), 'not_found');
    assert.match(event.id, UUID);
    assert.equal(typeof event.timestamp, 'number');
    assert.equal(event.actions, undefined);
  });

  it('changes nothing else on the event when it fails', async () => {
    const { service, session } = await begin(open);
    await service.deleteSession(KEY);
    const event = says('hi', { a: 1, 'temp:t': 1, gone: undefined });
    const { stateDelta } = event.actions;
    const before = structuredClone(event);
    await failure(service.appendEvent({ session, event }), 'not_found');
    assert.deepEqual(event, before);
    assert.equal(event.actions.stateDelta, stateDelta);
  });

  it("replaces the delta in the actions, and does not change the caller's objects", async () => {
    const { service, session } = await begin(open);
    const event = says('hi');
    const { actions } = event;
    const delta = { a: 1, 'temp:t': 2 };
    actions.stateDelta = delta;
    await service.appendEvent({ session, event });
    assert.equal(event.actions, actions);
    assert.notEqual(actions.stateDelta, delta);
    assert.deepEqual(actions.stateDelta, { a: 1 });
    assert.deepEqual(delta, { a: 1, 'temp:t': 2 });
  });

  it('repeated does nothing', async () => {
    const { service, session } = await begin(open);
    const event = says('hi', { a: 1, 'temp:t': 1 });
    await service.appendEvent({ session, event });
    await service.appendEvent({ session, event: says('more', { a: 2 }) });
    const before = structuredClone(await stored(service));
    await service.appendEvent({ session, event });
    assert.deepEqual(await stored(service), before);
    assert.deepEqual(texts(session), ['hi', 'more']);
    assert.deepEqual(session.state, { a: 2, 'temp:t': 1 });
  });

  it('repeated through a handle without the event adds it, without its delta', async () => {
    const { service, session } = await begin(open);
    const event = says('hi', { a: 1 });
    await service.appendEvent({ session, event });
    await service.appendEvent({ session, event: says('more', { a: 2 }) });
    const windowed = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    assert.ok(windowed);
    await service.appendEvent({ session: windowed, event });
    assert.deepEqual(texts(windowed), ['hi']);
    assert.deepEqual(windowed.state, { a: 2 });
    assert.deepEqual((await stored(service)).state, { a: 2 });
  });

  it('with a stored id and other content replaces the event and applies its delta', async () => {
    const { service, session } = await begin(open);
    const event = says('hi', { a: 1 });
    await service.appendEvent({ session, event });
    event.content = { parts: [{ text: 'changed' }] };
    event.actions.stateDelta = { a: 2 };
    await service.appendEvent({ session, event });
    const read = await stored(service);
    assert.deepEqual(texts(read), ['changed']);
    assert.deepEqual(read.state, { a: 2 });
    assert.deepEqual(session.events, [event]);
  });

  it('of a partial event stores and changes nothing', async () => {
    let now = 1000;
    const { service, session } = await begin(open, { a: 1 }, { clock: () => now });
    now = 2000;
    const event = bare({ partial: true, actions: { stateDelta: { a: 2, 'temp:t': 1 } } });
    const before = structuredClone([event, session]);
    assert.equal(await service.appendEvent({ session, event }), event);
    assert.deepEqual([event, session], before);
    assert.deepEqual(await stored(service), session);
  });

  it('of a partial event works even if nothing could be stored', async () => {
    const { service, session } = await begin(open);
    await service.deleteSession(KEY);
    const event = Object.freeze(says('piece', { bad: 1n }));
    const partial = Object.freeze({ ...event, partial: true });
    assert.equal(await service.appendEvent({ session, event: partial }), partial);
  });

  it('with frozen actions is refused before anything is stored or changed', async () => {
    const { service, session } = await begin(open);
    const event = says('hi', { a: 1 });
    Object.freeze(event.actions);
    const before = structuredClone(event);
    const error = await failure(service.appendEvent({ session, event }), 'invalid_argument');
    assert.match(error.message, /event\.actions\.stateDelta/);
    assert.deepEqual(event, before);
    assert.deepEqual([session.events, session.state], [[], {}]);
    assert.deepEqual((await stored(service)).events, []);
  });

  it('of a frozen event without an id is refused', async () => {
    const { service, session } = await begin(open);
    const event = Object.freeze(bare({ timestamp: 1, actions: createEventActions() }));
    const error = await failure(service.appendEvent({ session, event }), 'invalid_argument');
    assert.match(error.message, /event\.id/);
  });

  it('of a frozen, complete event with its own actions succeeds', async () => {
    const { service, session } = await begin(open);
    const event = Object.freeze(says('hi', { a: 1 }));
    await service.appendEvent({ session, event });
    assert.deepEqual(texts(await stored(service)), ['hi']);
  });

  for (const part of ['session', 'state', 'events'] as const) {
    it(`through a handle whose ${part} is frozen is refused before anything is stored`, async () => {
      const { service, session } = await begin(open, { a: 1 });
      Object.freeze(part === 'session' ? session : session[part]);
      const event = says('hi', { a: 2 });
      const error = await failure(service.appendEvent({ session, event }), 'invalid_argument');
      assert.match(error.message, /session/);
      const read = await stored(service);
      assert.deepEqual([read.events, read.state], [[], { a: 1 }]);
      assert.deepEqual([session.events, session.state], [[], { a: 1 }]);
    });
  }

  it('succeeds through a handle whose events throw after the commit', async () => {
    const { service, session } = await begin(open);
    let isThrowing = false;
    const events = new Proxy(session.events, {
      get(events, name, receiver): unknown {
        if (isThrowing && name === '0') throw new Error('an event is looked at');
        return Reflect.get(events, name, receiver);
      },
      defineProperty(events, name, descriptor): boolean {
        isThrowing ||= events.length === 0;
        return Reflect.defineProperty(events, name, descriptor);
      },
    });
    Object.assign(session, { events });
    await service.appendEvent({ session, event: says('one') });
    assert.ok(isThrowing);
    isThrowing = false;
    await service.appendEvent({ session, event: says('two') });
    assert.deepEqual(texts(await stored(service)), ['one', 'two']);
    assert.deepEqual(texts(session), ['one', 'two']);
  });

  it('orders events by append, not by timestamp', async () => {
    const { service, session } = await begin(open);
    for (const timestamp of [3000, 1000, 2000.5, 0]) {
      await service.appendEvent({ session, event: { ...says(String(timestamp)), timestamp } });
    }
    assert.deepEqual(texts(await stored(service)), ['3000', '1000', '2000.5', '0']);
    assert.equal((await stored(service)).events[2]?.timestamp, 2000.5);
  });
});

overStorages('Appending several events', (open) => {
  it('stores all events in order, and returns the array', async () => {
    const { service, session } = await begin(open);
    const events = [says('one', { a: 1 }), says('two', { a: 2, 'temp:t': 1 }), bare()];
    assert.equal(await service.appendEvents({ session, events }), events);
    assert.deepEqual(session.events, events);
    assert.deepEqual(session.state, { a: 2, 'temp:t': 1 });
    const read = await stored(service);
    assert.deepEqual(read.events, events);
    assert.deepEqual(read.state, { a: 2 });
  });

  it('stores no event if one of them is refused', async () => {
    const { service, session } = await begin(open);
    const events = [says('one', { a: 1 }), says('two', { bad: [{ n: Number.NaN }] })];
    const error = await failure(service.appendEvents({ session, events }), 'unserializable');
    assert.equal(error.path, 'bad[0].n');
    assert.deepEqual([session.events, session.state], [[], {}]);
    assert.deepEqual((await stored(service)).events, []);
    assert.deepEqual(events[0]?.actions.stateDelta, { a: 1 });
  });

  it('omits partial events', async () => {
    const { service, session } = await begin(open);
    const events = [says('one'), createEvent({ partial: true }), says('three')];
    assert.equal((await service.appendEvents({ session, events })).length, 3);
    assert.deepEqual(texts(await stored(service)), ['one', 'three']);
    assert.deepEqual(texts(session), ['one', 'three']);
  });

  it('treats the same event twice as one, and keeps the last with an id', async () => {
    const { service, session } = await begin(open);
    const event = says('one', { a: 1 });
    const other = { ...says('two', { a: 2 }), id: event.id };
    await service.appendEvents({ session, events: [event, event, other] });
    assert.deepEqual(session.events, [other]);
    assert.deepEqual(texts(await stored(service)), ['two']);
    assert.deepEqual(session.state, { a: 2 });
  });

  it('of no events does nothing', async () => {
    const { service, session } = await begin(open);
    assert.deepEqual(await service.appendEvents({ session, events: [] }), []);
  });

  it('applies the delta of a replacing event after those before it', async () => {
    const { service, session } = await begin(open);
    const first = says('one', { a: 1 });
    await service.appendEvent({ session, event: first });
    const events = [says('two', { a: 2 }), { ...says('new one', { a: 3 }), id: first.id }];
    await service.appendEvents({ session, events });
    assert.deepEqual(texts(session), ['new one', 'two']);
    assert.deepEqual(session.state, { a: 3 });
    assert.deepEqual((await stored(service)).state, { a: 3 });
  });
});

describe('A retry over a storage that failed', () => {
  for (const stale of ['merge', 'append', 'reject'] as const) {
    it(`before it wrote stores the same event (stale: '${stale}')`, async () => {
      const storage = new MapStorage();
      const service = await openOver(storage, { stale });
      const session = await service.createSession(KEY);
      const event = bare({ actions: { stateDelta: { a: 1, 'temp:t': 2 } } });
      failNextAppend(storage, 'before', new Error('disk'));
      await failure(service.appendEvent({ session, event }), 'storage_failed');
      assert.deepEqual([session.events, session.state], [[], {}]);
      const { id, timestamp } = event;
      await service.appendEvent({ session, event });
      assert.deepEqual([event.id, event.timestamp], [id, timestamp]);
      assert.deepEqual(session.state, { a: 1, 'temp:t': 2 });
      assert.deepEqual((await stored(service)).events, [event]);
    });

    it(`after it had written is a no-op that brings the handle up to date (stale: '${stale}')`, async () => {
      const storage = new MapStorage();
      const service = await openOver(storage, { stale });
      const session = await service.createSession(KEY);
      const event = bare({ actions: { stateDelta: { a: 1, 'temp:t': 2 } } });
      failNextAppend(storage, 'after', new Error('connection lost'));
      await failure(service.appendEvent({ session, event }), 'storage_failed');
      assert.deepEqual([session.events, session.state], [[], {}]);
      const before = structuredClone(await stored(service));
      await service.appendEvent({ session, event });
      assert.deepEqual(await stored(service), before);
      assert.deepEqual(session.events, [event]);
      assert.deepEqual(session.state, { a: 1, 'temp:t': 2 });
      await service.appendEvent({ session, event: says('next') });
      assert.equal((await stored(service)).events.length, 2);
    });
  }

  it('after it had written stores no event of a batch twice', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const events = [says('one', { n: 1 }), says('two', { n: 2 })];
    failNextAppend(storage, 'after', new Error('connection lost'));
    await failure(service.appendEvents({ session, events }), 'storage_failed');
    await service.appendEvents({ session, events: [...events, says('three')] });
    assert.deepEqual(texts(session), ['one', 'two', 'three']);
    assert.deepEqual(texts(await stored(service)), ['one', 'two', 'three']);
    assert.deepEqual(session.state, { n: 2 });
  });
});
