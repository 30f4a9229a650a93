import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, createEventActions } from '../../../../js/values/model/event/create_event.js';
import type { Event } from '../../../../js/values/model/event/event.js';
import { Invocation } from '../../../../js/service/invocation/invocation.js';
import { MapStorage } from '../map_storage.js';
import { invoke, newFixture, storedDeltas, text } from './fixture.js';

const agentName = 'guide';

describe('Invocation.append', () => {
  it('completes the event', async () => {
    const { service, session } = await newFixture();
    const invocation = new Invocation({ service, session, invocationId: 'e-1' });
    const context = invocation.context({ agentName, branch: 'root.guide' });
    const before = Date.now();
    const given = { content: text('hi'), mine: 1 };
    const event = await invocation.append(given, { context });
    assert.equal(event, given as unknown as Event);
    assert.match(event.id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      [event.invocationId, event.author, event.branch, event.mine],
      ['e-1', 'guide', 'root.guide', 1],
    );
    assert.ok(event.timestamp >= before && event.timestamp <= Date.now());
    assert.deepEqual(event.actions, createEventActions());
    assert.equal(session.events[0], event);
  });

  it("resolves when the event is stored, even if the state throws at the invocation's end", async () => {
    const { service, session } = await newFixture();
    const invocation = new Invocation({ service, session });
    const { state } = session;
    const appended = invocation.append({ id: 'x' });
    invocation.end();
    session.state = new Proxy(state, {
      ownKeys: () => {
        throw new Error('closed');
      },
    });
    assert.equal((await appended).id, 'x');
  });

  it("resolves when the event is stored, even if the handle throws at the invocation's end", async () => {
    const { service, session } = await newFixture();
    let isClosed = false;
    const closing = new Proxy(session, {
      get(target, member) {
        if (isClosed && member === 'state') throw new Error('closed');
        return Reflect.get(target, member) as unknown;
      },
    });
    const invocation = new Invocation({ service, session: closing });
    const event = { id: 'x' };
    const appended = invocation.append(event);
    invocation.end();
    isClosed = true;
    assert.equal(await appended, event);
    assert.ok('actions' in event);
  });

  it('keeps existing fields of the event', async () => {
    const { service, session } = await newFixture();
    const invocation = new Invocation({ service, session });
    const context = invocation.context({ agentName, branch: 'root' });
    const own = { id: 'x', invocationId: 'i', author: 'a', branch: 'b', timestamp: 5 };
    const event = await invocation.append({ ...own }, { context });
    assert.deepEqual({ ...event, actions: undefined }, { ...own, actions: undefined });
  });

  it('uses the author `user` without a context', async () => {
    const { service, session } = await newFixture();
    const event = await new Invocation({ service, session }).append(createEvent());
    assert.equal(event.author, 'user');
    assert.match(event.invocationId, /^e-[0-9a-f-]{36}$/);
    assert.equal(Object.hasOwn(event, 'branch'), false);
  });

  it("stores the context's writes once, and only newer ones later", async () => {
    const fixture = await newFixture({ kept: 0 });
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.update({ a: 1, 'user:b': 2, kept: undefined });
    await invocation.append({}, { context });
    assert.equal(context.state.hasDelta(), false);
    context.state.set('a', 3);
    await invocation.append({}, { context });
    await invocation.append({}, { context });
    const removed = '__ADK_SENTINEL_REMOVED__';
    assert.deepEqual(await storedDeltas(fixture), [
      { a: 1, 'user:b': 2, kept: removed },
      { a: 3 },
      {},
    ]);
    assert.deepEqual(fixture.session.state, { a: 3, 'user:b': 2 });
  });

  it('stores changes made in place, even after an append', async () => {
    const fixture = await newFixture({ cart: ['tea'] });
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    const cart = context.state.get<string[]>('cart');
    cart?.push('milk');
    await invocation.append({}, { context });
    await invocation.append({}, { context });
    cart?.push('bread');
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [
      { cart: ['tea', 'milk'] },
      {},
      { cart: ['tea', 'milk', 'bread'] },
    ]);
  });

  it('stores changes made in place in a value that was appended', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.set('cart', ['tea']);
    const cart = context.state.get<string[]>('cart');
    await invocation.append({}, { context });
    cart?.push('milk');
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [{ cart: ['tea'] }, { cart: ['tea', 'milk'] }]);
  });

  it('stores later changes in a value that was set', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    const cart = ['tea'];
    context.state.set('cart', cart);
    await invocation.append({}, { context });
    cart.push('milk');
    await invocation.append({}, { context });
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [
      { cart: ['tea'] },
      { cart: ['tea', 'milk'] },
      {},
    ]);
  });

  it('keeps writes made meanwhile for the next event', async () => {
    const fixture = await newFixture({}, new MapStorage());
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.update({ a: 1, b: 1 });
    const promise = invocation.append({}, { context });
    context.state.set('a', 2);
    await promise;
    assert.equal(fixture.session.state.a, 2);
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [{ a: 1, b: 1 }, { a: 2 }]);
  });

  it("prefers the event's own delta to the context's", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.update({ a: 'context', b: 'context' });
    const delta = { a: 'event' };
    await invocation.append(createEvent({ actions: { stateDelta: delta } }), { context });
    assert.deepEqual(await storedDeltas(fixture), [{ a: 'event', b: 'context' }]);
    assert.equal(fixture.session.state.a, 'event');
    assert.deepEqual(delta, { a: 'event' });
  });

  it("moves the context's other actions to the event once", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.actions.escalate = true;
    context.actions.transferToAgent = 'context';
    context.actions.artifactDelta['a.txt'] = 1;
    const actions = { transferToAgent: 'event', artifactDelta: { 'b.txt': 2 } };
    const event = await invocation.append({ actions }, { context });
    const both = { 'a.txt': 1, 'b.txt': 2 };
    assert.deepEqual(
      [event.actions.escalate, event.actions.transferToAgent, event.actions.artifactDelta],
      [true, 'event', both],
    );
    assert.deepEqual(context.actions, createEventActions());
    const next = await invocation.append({}, { context });
    assert.deepEqual(next.actions, createEventActions());
  });

  it("accepts an event with the context's own actions, or a copy of them", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    for (const actionsOf of [() => context.actions, () => ({ ...context.actions })]) {
      context.state.set('a', actionsOf.length);
      context.actions.escalate = true;
      const event = await invocation.append({ actions: actionsOf() }, { context });
      assert.notEqual(event.actions, context.actions);
      assert.deepEqual([event.actions.stateDelta, event.actions.escalate], [{ a: 0 }, true]);
      context.state.set('b', 1);
      assert.deepEqual(event.actions.stateDelta, { a: 0 });
      await invocation.append({}, { context });
    }
  });

  it('stores a delta that replaced the tracked one', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.set('a', 1);
    context.actions.stateDelta = { b: 2 };
    await invocation.append({}, { context });
    context.state.set('c', 3);
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [{ a: 1, b: 2 }, { c: 3 }]);
  });

  it("does not store a partial event, nor take the context's changes", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.set('a', 1);
    const partial = { partial: true, content: text('h') };
    const event = await invocation.append(partial, { context, outputKey: 'answer' });
    assert.equal(event.author, 'guide');
    assert.deepEqual((await fixture.stored()).events, []);
    assert.equal(context.state.hasDelta(), true);
  });
});

describe('Invocation.append with an output key', () => {
  it('writes the text of a final response to the state', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const content = text('Hel', 'lo');
    content.parts.splice(1, 0, { text: 'hm', thought: true });
    await invocation.append({ content }, { outputKey: 'answer' });
    assert.deepEqual(await storedDeltas(fixture), [{ answer: 'Hello' }]);
    assert.equal(invocation.context({ agentName }).state.get('answer'), 'Hello');
  });

  it('writes nothing for any other event', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const events = [
      { content: { parts: [{ text: 'x' }, { functionCall: { name: 'f' } }] } },
      { content: text('') },
      { content: { parts: [{ text: 'hm', thought: true }] } },
      {},
    ];
    for (const event of events) await invocation.append(event, { outputKey: 'answer' });
    assert.deepEqual(await storedDeltas(fixture), [{}, {}, {}, {}]);
  });

  it('considers actions that come from the context', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.actions.skipSummarization = true;
    const parts = [{ text: 'done' }, { functionResponse: { name: 'f', response: {} } }];
    await invocation.append({ content: { parts } }, { context, outputKey: 'answer' });
    assert.deepEqual(await storedDeltas(fixture), [{ answer: 'done' }]);
  });

  it("overrides the context's write to that key", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const [a, b] = [invocation.context({ agentName }), invocation.context({ agentName: 'b' })];
    a.state.set('answer', 'draft');
    b.state.set('answer', 'other');
    await invocation.append({}, { context: b });
    await invocation.append({ content: text('final') }, { context: a, outputKey: 'answer' });
    assert.deepEqual(await storedDeltas(fixture), [{ answer: 'other' }, { answer: 'final' }]);
    assert.equal(fixture.session.state.answer, 'final');
  });

  it('accepts `__proto__` as the key', async () => {
    const fixture = await newFixture();
    await invoke(fixture).append({ content: text('x') }, { outputKey: '__proto__' });
    const [delta] = await storedDeltas(fixture);
    assert.deepEqual(Object.entries(delta ?? {}), [['__proto__', 'x']]);
  });
});
