import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { z } from 'zod';

import { createEvent, createEventActions } from '../../../../js/values/model/event/create_event.js';
import type { Event } from '../../../../js/values/model/event/event.js';
import { failure, invoke, newFixture, storedDeltas, text } from './fixture.js';

const agentName = 'guide';

describe('Invocation.append that fails', () => {
  it('returns the changes to the context, so that a retry carries them', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.update({ a: 1, b: 1 });
    context.actions.escalate = true;
    context.actions.artifactDelta['a.txt'] = 0;
    fixture.failOnce(new Error('disk'));
    const event: Partial<Event> = { content: text('hi') };
    const promise = invocation.append(event, { context });
    context.state.set('b', 2);
    await assert.rejects(promise, /disk/);
    assert.deepEqual(context.actions.stateDelta, { b: 2, a: 1 });
    assert.equal(Object.hasOwn(event, 'actions'), false);
    const { id, timestamp } = event;

    await invocation.append(event, { context });
    assert.deepEqual([event.id, event.timestamp], [id, timestamp]);
    assert.deepEqual(await storedDeltas(fixture), [{ a: 1, b: 2 }]);
    assert.equal(event.actions?.escalate, true);
    assert.deepEqual(event.actions?.artifactDelta, { 'a.txt': 0 });
    assert.deepEqual(context.actions, createEventActions());
  });

  it("leaves the event's actions as they were", async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.set('a', 1);
    fixture.failOnce(new Error('disk'));
    const actions = createEventActions({ stateDelta: { b: 1 } });
    const event = createEvent();
    event.actions = actions;
    await assert.rejects(invocation.append(event, { context }));
    assert.equal(event.actions, actions);
    assert.deepEqual(actions, createEventActions({ stateDelta: { b: 1 } }));
  });

  it('keeps the position of the changes in the order of writes', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const [a, b] = [invocation.context({ agentName }), invocation.context({ agentName: 'b' })];
    a.state.set('k', 'older');
    b.state.set('k', 'newer');
    fixture.failOnce(new Error('disk'));
    await assert.rejects(invocation.append({}, { context: a }));
    await invocation.append({}, { context: b });
    await invocation.append({}, { context: a });
    assert.deepEqual(await storedDeltas(fixture), [{ k: 'newer' }, {}]);
    assert.equal(fixture.session.state.k, 'newer');
  });

  it('returns the newest write after several failed appends', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    const failing = ['older', 'newer'].map((value) => {
      context.state.set('k', value);
      fixture.failOnce(new Error('disk'));
      return assert.rejects(invocation.append({}, { context }), /disk/);
    });
    await Promise.all(failing);
    assert.deepEqual(context.actions.stateDelta, { k: 'newer' });
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [{ k: 'newer' }]);
  });

  it('refuses what is no event', async () => {
    const invocation = invoke(await newFixture());
    for (const event of ['Hello', null, undefined, 5, []]) {
      const { key } = await failure(invocation.append(event as never), 'invalid_argument');
      assert.equal(key, 'event');
    }
  });

  it('refuses an event that cannot be read, and returns the changes to the context', async () => {
    const invocation = invoke(await newFixture());
    const context = invocation.context({ agentName });
    context.state.set('a', 1);
    for (const member of ['partial', 'actions', 'id', 'content']) {
      const event = {
        get [member](): never {
          throw new Error('no');
        },
      };
      const appended = invocation.append(event, { context, outputKey: 'answer' });
      const { key } = await failure(appended, 'invalid_argument');
      assert.equal(key, 'event');
      assert.deepEqual(context.actions.stateDelta, { a: 1 });
    }
  });

  it('refuses a frozen event before it takes changes', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.set('a', 1);
    const complete = { ...createEvent(), invocationId: 'i', author: 'a' };
    for (const event of [Object.freeze({}), Object.freeze(complete)]) {
      await failure(invocation.append(event, { context }), 'invalid_argument');
      assert.deepEqual(context.actions.stateDelta, { a: 1 });
    }
    assert.deepEqual((await fixture.stored()).events, []);
  });

  it('refuses a delta that is not a plain object', async () => {
    const fixture = await newFixture();
    const stateDelta = new Map([['a', 1]]) as unknown as Record<string, unknown>;
    const event = { actions: { stateDelta } };
    await failure(invoke(fixture).append(event), 'invalid_argument');
    assert.equal(event.actions.stateDelta, stateDelta);
  });

  it('passes the signal on', async () => {
    const fixture = await newFixture();
    const { signal } = new AbortController();
    let seen: unknown;
    const service: typeof fixture.service = {
      appendEvent(request) {
        seen = request.signal;
        return fixture.service.appendEvent(request);
      },
    };
    await invoke(fixture, { service }).append({}, { signal });
    assert.equal(seen, signal);
  });

  it('refuses a context of another invocation', async () => {
    const fixture = await newFixture();
    const context = invoke(fixture).context({ agentName });
    context.state.set('a', 1);
    await failure(invoke(fixture).append({}, { context }), 'invalid_argument');
    await failure(invoke(fixture).append({}, { context: {} as never }), 'invalid_argument');
    assert.equal(context.state.hasDelta(), true);
  });

  it('refuses a value that the schema does not allow, from any source', async () => {
    const fixture = await newFixture({ list: [1] });
    const stateSchema = { list: z.array(z.number()), answer: z.string().max(2) };
    const invocation = invoke(fixture, { stateSchema });
    const context = invocation.context({ agentName });
    assert.throws(() => context.state.set('list', 'x'), /"list"/);
    (context.state.get('list') as unknown[]).push('x');
    await failure(invocation.append({}, { context }), 'schema_violation');
    assert.equal(context.state.hasDelta(), true);
    context.state.set('list', [2]);
    const content = text('too long');
    const options = { context, outputKey: 'answer' };
    await failure(invocation.append({ content }, options), 'schema_violation');
    const actions = { stateDelta: { undeclared: 1 } };
    await failure(invocation.append({ actions }, { context }), 'schema_violation');
    assert.deepEqual((await fixture.stored()).events, []);
    await invocation.append({ content: text('ok') }, options);
    assert.deepEqual(await storedDeltas(fixture), [{ list: [2], answer: 'ok' }]);
  });
});
