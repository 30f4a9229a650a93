// Objects that a service returns, or that an append puts on a handle, are not shared.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { Invocation, type StateShape } from '../../../../js/index.js';
import { begin, KEY, overStorages, says, stored } from '../../service/fixture.js';

/** All objects within a value. */
function objectsIn(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found;
  found.add(value);
  for (const member of Object.values(value)) objectsIn(member, found);
  return found;
}

function assertApart(one: unknown, other: unknown): void {
  const shared = [...objectsIn(one)].filter((object) => objectsIn(other).has(object));
  assert.deepEqual(shared, []);
}

const delta = (): StateShape => ({ cart: ['tea', { size: 1 }], 'user:notes': { a: {} } });

overStorages('What is handed out', (open) => {
  it('is not shared between an event and the state that it changed', async () => {
    const { service, session } = await begin(open);
    const given = delta();
    await service.appendEvent({ session, event: says('order', given) });
    assertApart(session.state, session.events);
    assertApart(session.state, given);
    assertApart(session.events, given);
    (session.state.cart as unknown[]).push('milk');
    assert.deepEqual(session.events[0]?.actions.stateDelta, delta());
  });

  it('is stored as before if the state was changed in place and the event is appended again', async () => {
    const { service, session } = await begin(open);
    const event = says('order', delta());
    await service.appendEvent({ session, event });
    (session.state.cart as unknown[]).push('milk');
    await service.appendEvent({ session, event });
    assert.deepEqual((await stored(service)).state, delta());
  });

  it('is not shared between two handles with the same delta', async () => {
    const { service, session } = await begin(open);
    const other = await service.createSession({ ...KEY, sessionId: 'other' });
    const given = delta();
    await service.appendEvent({ session, event: says('one', given) });
    await service.appendEvent({ session: other, event: says('two', given) });
    assertApart(session, other);
    const [first, second] = [await stored(service), await stored(service)];
    assertApart(first, second);
    assertApart(first.state, first.events);
    const { sessions } = await service.listSessions({ appName: 'app' });
    assertApart(sessions[0], sessions[1]);
  });

  it('is not shared with a stale handle that receives it', async () => {
    const { service, session } = await begin(open);
    const other = await stored(service);
    await service.appendEvent({ session, event: says('one', delta()) });
    await service.appendEvent({ session: other, event: says('two') });
    assert.deepEqual(other.state, delta());
    assertApart(other.state, other.events);
    assertApart(other, session);
  });

  it("is the agent's own object in the state, and a copy in the event", async () => {
    const { service, session } = await begin(open);
    const invocation = new Invocation({ service, session });
    const context = invocation.context({ agentName: 'shop' });
    const cart = ['tea'];
    context.state.set('cart', cart);
    await invocation.append({}, { context });
    assert.equal(context.state.get('cart'), cart);
    context.state.get<string[]>('cart')?.push('milk');
    assert.deepEqual(session.events[0]?.actions.stateDelta, { cart: ['tea'] });
    await invocation.append({}, { context });
    assert.deepEqual((await stored(service)).state, { cart: ['tea', 'milk'] });
    assert.deepEqual(session.events[0]?.actions.stateDelta, { cart: ['tea'] });
  });

  it('is the original under `temp:` keys', async () => {
    const { service, session } = await begin(open);
    const socket = { open: () => undefined };
    await service.appendEvent({
      session,
      event: says('one', { 'temp:socket': socket, ...delta() }),
    });
    assert.equal(session.state['temp:socket'], socket);
  });
});
