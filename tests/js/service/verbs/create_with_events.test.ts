import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Event, InMemorySessionService } from '../../../../js/index.js';
import { KEY, USER } from '../fixture.js';

const event = (id: string, stateDelta: Record<string, unknown> = {}): Event =>
  createEvent({ id, author: 'user', timestamp: 1000, actions: { stateDelta } as Event['actions'] });

describe('createSession with events', () => {
  it('fills in a missing id and timestamp, on the event of the caller too', async () => {
    const service = new InMemorySessionService({ clock: () => 7, newId: () => 'made' });
    const given = { author: 'user', actions: event('e').actions } as Event;
    const { events } = await service.createSession({ ...KEY, events: [given] });
    assert.deepEqual([given.id, given.timestamp], ['made', 7]);
    assert.deepEqual([events[0]?.id, events[0]?.timestamp], ['made', 7]);
  });

  it('shares nothing between the handle, the caller and the store', async () => {
    const service = new InMemorySessionService();
    const cart = { items: ['tea'] };
    const given = event('e1', { cart });
    const session = await service.createSession({ ...KEY, events: [given] });
    cart.items.push('milk');
    (session.events[0]!.actions.stateDelta.cart as typeof cart).items.push('rum');
    const read = await service.getSession(KEY);
    assert.deepEqual(session.state.cart, { items: ['tea'] });
    assert.deepEqual(read?.state.cart, { items: ['tea'] });
    assert.deepEqual(read?.events[0]?.actions.stateDelta, { cart: { items: ['tea'] } });
  });

  it('does not store partial events', async () => {
    const service = new InMemorySessionService();
    const partial = { ...event('e1', { n: 1 }), partial: true };
    const session = await service.createSession({ ...KEY, events: [partial, event('e2')] });
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ['e2'],
    );
    assert.deepEqual(session.state, {});
  });

  it('works without a promise in memory', () => {
    const service = new InMemorySessionService();
    const session = service.createSessionSync({ ...KEY, events: [event('e1', { n: 1 })] });
    assert.deepEqual(session.state, { n: 1 });
  });

  it('tells a watcher of one creation', async () => {
    const service = new InMemorySessionService();
    const types: string[] = [];
    service.watch(USER, { onNotice: ({ type }) => types.push(type) });
    await service.createSession({ ...KEY, events: [event('e1'), event('e2')] });
    await service.close();
    assert.deepEqual(types, ['created']);
  });

  for (const [name, request, key] of [
    ['events that are no array', { events: 'e1' }, 'events'],
    ['two events of one id', { events: [event('e1'), event('e1')] }, 'events'],
    ['an unknown sharedState', { sharedState: 'drop' }, 'sharedState'],
  ] as const) {
    it(`refuses ${name}, and creates nothing`, async () => {
      const service = new InMemorySessionService();
      await assert.rejects(service.createSession({ ...KEY, ...request } as never), {
        code: 'invalid_argument',
        key,
      });
      assert.equal(await service.getSession(KEY), undefined);
    });
  }

  it('refuses a value that JSON cannot hold, with its path', async () => {
    const service = new InMemorySessionService();
    const events = [event('e1', { f: () => 1 })];
    await assert.rejects(service.createSession({ ...KEY, events }), { code: 'unserializable' });
    assert.equal(await service.getSession(KEY), undefined);
  });
});
