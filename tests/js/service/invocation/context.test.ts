import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemoryArtifactService } from '@google/adk';

import { Context, ReadonlyContext } from '../../../../js/service/invocation/context.js';
import { Invocation } from '../../../../js/service/invocation/invocation.js';
import { State } from '../../../../js/values/state/state.js';
import { failure, invoke, MapArtifactService, newFixture, text, throwsCode } from './fixture.js';

const agentName = 'guide';

describe('A context', () => {
  it('returns the ids of its session and invocation', async () => {
    const fixture = await newFixture();
    const userContent = text('hi');
    const invocation = invoke(fixture, { invocationId: 'e-1', userContent });
    const context = invocation.context({ agentName, branch: 'root.guide', functionCallId: 'f1' });
    assert.ok(context instanceof ReadonlyContext);
    for (const view of [context, context.toReadonly()]) {
      assert.equal(view.userContent, userContent);
      assert.deepEqual(
        [view.invocationId, view.userId, view.sessionId, view.agentName, view.branch],
        ['e-1', fixture.session.userId, fixture.session.id, 'guide', 'root.guide'],
      );
    }
    assert.equal(context.functionCallId, 'f1');
    assert.equal(context.state, context.state);
  });

  it('has the writes to its state in the delta of its actions', async () => {
    const context = invoke(await newFixture({ cart: [1] })).context({ agentName });
    context.state.set('a', 1);
    context.state.get<number[]>('cart')?.push(2);
    assert.deepEqual(context.actions.stateDelta, { a: 1, cart: [1, 2] });
    assert.equal(context.actions, context.actions);
  });

  it("shows entries of its actions' delta in its state", async () => {
    const invocation = invoke(await newFixture({ a: 1 }));
    const context = invocation.context({ agentName });
    context.actions.stateDelta.a = 2;
    assert.equal(context.state.get('a'), 2);
    context.state.set('a', 3);
    await invocation.append({}, { context });
    context.actions.stateDelta.a = 4;
    assert.equal(context.state.get('a'), 4);
  });

  it('has the types of its session', async () => {
    // eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- has an index signature
    type Shape = { topic: string; 'user:visits': number };
    const { service, session } = await newFixture({ topic: 'tea' });
    const invocation = new Invocation<Shape>({ service, session });
    const context = invocation.context({ agentName });
    const topic: string | undefined = context.state.get('topic');
    const visits: number = invocation.readonlyContext({ agentName }).state.get('user:visits', 0);
    const any: Context = context;
    void ((): void => {
      // @ts-expect-error a string is no number
      context.state.set('user:visits', '1');
      // @ts-expect-error there is no way to write
      context.toReadonly().state.set('topic', 'x'); // eslint-disable-line @typescript-eslint/no-unsafe-call
    });
    assert.deepEqual([topic, visits, any.state.get('topic')], ['tea', 0, 'tea']);
  });
});

describe('The state of a read-only context', () => {
  it('cannot be written', async () => {
    const { service, session } = await newFixture({ a: 1 });
    const context = new Invocation({ service, session }).readonlyContext({ agentName });
    const state = context.state as State;
    assert.throws(() => state.set('a', 2), throwsCode('readonly'));
    assert.throws(() => state.update({ a: 2 }), throwsCode('readonly'));
    assert.throws(() => state.delete('a'), throwsCode('readonly'));
    assert.throws(
      () => state.set('a', 2),
      (error) => (error as { key?: string }).key === 'a',
    );
    assert.deepEqual(session.state, { a: 1 });
  });

  it('returns frozen copies of objects', async () => {
    const { service, session } = await newFixture({ cart: { items: [{ n: 1 }] } });
    const invocation = new Invocation({ service, session });
    const { state } = invocation.readonlyContext({ agentName });
    const cart = state.get<{ items: { n: number }[] }>('cart');
    assert.ok(cart?.items[0]);
    const item = cart.items[0];
    assert.throws(() => cart.items.push({ n: 2 }), TypeError);
    assert.throws(() => (item.n = 2), TypeError);
    for (const [, value] of state) assert.ok(Object.isFrozen(value));
    (state.toRecord().cart as { items: unknown[] }).items.push(2);
    assert.deepEqual(session.state, { cart: { items: [{ n: 1 }] } });
    assert.equal(Object.isFrozen(session.state.cart), false);
  });

  it("is the session's current state", async () => {
    const invocation = invoke(await newFixture({ cart: [1] }));
    const { state } = invocation.readonlyContext({ agentName });
    assert.deepEqual(state.get('cart'), [1]);
    const context = invocation.context({ agentName });
    context.state.get<number[]>('cart')?.push(2);
    context.state.set('__proto__', { x: 1 });
    assert.deepEqual(state.get('cart'), [1, 2]);
    assert.deepEqual(state.keys(), ['cart', '__proto__']);
    assert.deepEqual(state.get('__proto__'), { x: 1 });
    assert.equal(state.has('constructor'), false);
  });

  it('returns `temp:` values by reference', async () => {
    const invocation = invoke(await newFixture());
    const connection = { open: true };
    invocation.context({ agentName }).state.set('temp:connection', connection);
    const { state } = invocation.readonlyContext({ agentName });
    assert.equal(state.get('temp:connection'), connection);
    assert.equal(Object.isFrozen(connection), false);
  });

  it('returns a value in its stored form, and refuses one that cannot be stored', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const { state } = invocation.context({ agentName });
    state.set('when', { at: new Date(0) });
    Object.assign(fixture.session.state, { map: new Map() });
    const readonly = invocation.readonlyContext({ agentName });
    assert.deepEqual(readonly.state.get('when'), { at: '1970-01-01T00:00:00.000Z' });
    assert.throws(() => readonly.state.get('map'), throwsCode('unserializable'));
  });
});

describe('The artifacts of a context', () => {
  it('are saved, loaded and listed for the session', async () => {
    const fixture = await newFixture();
    const artifactService = new MapArtifactService();
    const invocation = invoke(fixture, { artifactService });
    const context = invocation.context({ agentName });
    assert.equal(await context.saveArtifact('a.txt', { text: 'one' }), 0);
    assert.equal(await context.saveArtifact('a.txt', { text: 'two' }), 1);
    assert.equal(await context.saveArtifact('__proto__', { text: 'p' }), 0);
    assert.deepEqual(Object.entries(context.actions.artifactDelta), [['a.txt', 1], ['__proto__', 0]]); // prettier-ignore

    const readonly = invocation.readonlyContext({ agentName });
    assert.deepEqual(await readonly.loadArtifact('a.txt'), { text: 'two' });
    assert.deepEqual(await readonly.loadArtifact('a.txt', 0), { text: 'one' });
    assert.equal(await readonly.loadArtifact('b.txt'), undefined);
    assert.deepEqual(await readonly.listArtifacts(), ['a.txt', '__proto__']);
    const { appName, userId, id: sessionId } = fixture.session;
    for (const request of artifactService.requests) {
      assert.deepEqual({ ...request, appName, userId, sessionId }, request);
    }
    assert.equal('version' in (artifactService.requests[3] ?? {}), false);

    const event = await invocation.append({}, { context });
    assert.deepEqual(Object.entries(event.actions.artifactDelta), [['a.txt', 1], ['__proto__', 0]]); // prettier-ignore
  });

  it('saved at once are noted with the newest version, whichever is reported last', async () => {
    const artifactService = new MapArtifactService();
    const save = artifactService.saveArtifact.bind(artifactService);
    artifactService.saveArtifact = async (request) => {
      const version = await save(request);
      if (version === 0) await new Promise((done) => setTimeout(done, 5));
      return version;
    };
    const context = invoke(await newFixture(), { artifactService }).context({ agentName });
    const saves = ['one', 'two'].map((text) => context.saveArtifact('a.txt', { text }));
    assert.deepEqual(await Promise.all(saves), [0, 1]);
    assert.deepEqual(context.actions.artifactDelta, { 'a.txt': 1 });
  });

  it("can be stored by an ADK's service", async () => {
    const artifactService = new InMemoryArtifactService();
    const invocation = invoke(await newFixture(), { artifactService });
    const context = invocation.context({ agentName });
    assert.equal(await context.saveArtifact('a.txt', { text: 'one' }), 0);
    assert.deepEqual(await context.loadArtifact('a.txt'), { text: 'one' });
    assert.equal(await context.loadArtifact('b.txt'), undefined);
    assert.deepEqual(await context.listArtifacts(), ['a.txt']);
  });

  it('require a service', async () => {
    const context = invoke(await newFixture()).context({ agentName });
    await failure(context.loadArtifact('a'), 'artifact_service_missing');
    await failure(context.saveArtifact('a', { text: '' }), 'artifact_service_missing');
    await failure(context.listArtifacts(), 'artifact_service_missing');
  });

  it('that cannot be saved leave no version, and keep the error', async () => {
    const artifactService = new MapArtifactService();
    artifactService.saveArtifact = () => Promise.reject(new Error('full'));
    const invocation = invoke(await newFixture(), { artifactService });
    const context = invocation.context({ agentName });
    await assert.rejects(context.saveArtifact('a', { text: '' }), /^Error: full$/);
    assert.deepEqual(context.actions.artifactDelta, {});
  });
});
