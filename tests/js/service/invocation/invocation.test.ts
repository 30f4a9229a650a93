import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { createEvent, createEventActions } from '../../../../js/values/model/event/create_event.js';
import { Invocation } from '../../../../js/service/invocation/invocation.js';
import { InMemorySessionService } from '../../../../js/service/in_memory_session_service.js';
import type { StateShape } from '../../../../js/values/state/state_shape.js';
import { MapStorage } from '../map_storage.js';
import {
  failure,
  invoke,
  MapArtifactService,
  newFixture,
  storedDeltas,
  throwsCode,
} from './fixture.js';

const agentName = 'guide';

describe('The temp state of an invocation', () => {
  it('is shared by all its contexts, whatever is appended, and never stored', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    const socket = { send: (): void => undefined };
    context.state.update({ 'temp:socket': socket, a: 1 });
    await invocation.append({}, { context });
    assert.equal(invocation.context({ agentName: 'b' }).state.get('temp:socket'), socket);
    assert.equal(invocation.readonlyContext({ agentName: 'b' }).state.get('temp:socket'), socket);
    assert.deepEqual(await storedDeltas(fixture), [{ a: 1 }]);
    assert.deepEqual((await fixture.stored()).state, { a: 1 });
  });

  it('is gone from the session after the end', async () => {
    const { service, session } = await newFixture({ a: 1 });
    const invocation = new Invocation({ service, session });
    invocation.context({ agentName }).state.set('temp:x', 1);
    invocation.end();
    invocation.end();
    assert.deepEqual(session.state, { a: 1 });
    const next = new Invocation({ service, session });
    assert.equal(next.context({ agentName }).state.has('temp:x'), false);
  });

  it('drops the late temp: keys of its own appends, and none of the next invocation', async () => {
    const { service, session } = await newFixture();
    const first = new Invocation({ service, session });
    const context = first.context({ agentName });
    context.state.set('temp:context', 1);
    const actions = createEventActions({ stateDelta: { 'temp:event': 2, 'temp:both': 2 } });
    const appended = first.append({ actions }, { context });
    first.end();
    const second = new Invocation({ service, session });
    second.context({ agentName }).state.update({ 'temp:next': 3, 'temp:both': 3 });
    await appended;
    assert.deepEqual(session.state, { 'temp:next': 3, 'temp:both': 3 });
  });

  it('does not return with an append or tool that finishes after the end', async () => {
    const fixture = await newFixture({}, new MapStorage());
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    const { state } = context;
    state.set('temp:x', 1);
    const actions = { stateDelta: { 'temp:y': 1, a: 1 } };
    const promise = invocation.append(createEvent({ actions }), { context });
    invocation.end();
    assert.throws(() => state.set('temp:x', 2), throwsCode('invalid_argument'));
    assert.throws(() => state.update({ 'temp:x': 2 }), throwsCode('invalid_argument'));
    assert.throws(() => state.delete('a'), throwsCode('invalid_argument'));
    await promise;
    assert.deepEqual(fixture.session.state, { a: 1 });
    assert.deepEqual(await storedDeltas(fixture), [{ a: 1 }]);
  });
});

describe('An invocation', () => {
  it('refuses wrong options of its own, of its contexts and of appends', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ appName: 'app', userId: 'user' });
    const invocation = new Invocation({ service, session });
    const agentName = 'guide';
    const context = (options: object) => invocation.context({ agentName, ...options });
    const readonlyContext = (options: object) =>
      invocation.readonlyContext({ agentName, ...options });
    const append = (options: object) => invocation.append({}, options);
    const refuses = (call: () => unknown, key: string): Promise<void> =>
      assert.rejects(async () => await call(), { code: 'invalid_argument', key });
    for (const wrong of ['x', 5, 5n, null, []] as never[]) {
      await refuses(() => new Invocation({ service, session: wrong }), 'session');
      await refuses(() => new Invocation({ service, session, stateSchema: wrong }), 'stateSchema');
      await refuses(() => append({ context: wrong }), 'context');
      await refuses(() => append({ signal: wrong }), 'signal');
    }
    for (const wrong of [5, 5n, null, [], {}] as never[]) {
      const invocationId = wrong;
      await refuses(() => new Invocation({ service, session, invocationId }), 'invocationId');
      await refuses(() => context({ agentName: wrong }), 'agentName');
      await refuses(() => context({ branch: wrong }), 'branch');
      await refuses(() => context({ functionCallId: wrong }), 'functionCallId');
      await refuses(() => readonlyContext({ agentName: wrong }), 'agentName');
      await refuses(() => append({ outputKey: wrong }), 'outputKey');
    }
    assert.deepEqual(session.events, []);
  });
});

describe('An invocation that has ended', () => {
  it('refuses every use', async () => {
    const fixture = await newFixture();
    const artifactService = new MapArtifactService();
    const invocation = invoke(fixture, { artifactService });
    const context = invocation.context({ agentName });
    const readonly = invocation.readonlyContext({ agentName });
    invocation.end();
    const ended = throwsCode('invalid_argument');
    assert.throws(() => invocation.context({ agentName }), ended);
    assert.throws(() => invocation.readonlyContext({ agentName }), ended);
    assert.throws(() => context.state, ended);
    assert.throws(() => readonly.state, ended);
    await failure(invocation.append({}, { context }), 'invalid_argument');
    await failure(context.saveArtifact('a', { text: '' }), 'invalid_argument');
    await failure(readonly.loadArtifact('a'), 'invalid_argument');
    await failure(readonly.listArtifacts(), 'invalid_argument');
    assert.equal(context.invocationId, invocation.invocationId);
  });
});

describe('Parallel agents of an invocation', () => {
  it("see each other's writes at once", async () => {
    const invocation = invoke(await newFixture());
    const [a, b] = [invocation.context({ agentName }), invocation.context({ agentName: 'b' })];
    a.state.set('k', 1);
    assert.equal(b.state.get('k'), 1);
    b.state.set('k', 2);
    assert.equal(a.state.get('k'), 2);
  });

  it('keep the order of writes when one appends a copy of its actions', async () => {
    const fixture = await newFixture();
    const invocation = invoke(fixture);
    const [a, b] = [invocation.context({ agentName }), invocation.context({ agentName: 'b' })];
    a.state.set('k', 'older');
    b.state.set('k', 'newer');
    await invocation.append({}, { context: b });
    await invocation.append(createEvent({ actions: a.actions }), { context: a });
    assert.deepEqual(await storedDeltas(fixture), [{ k: 'newer' }, {}]);
  });

  it('work while others append to the session', async () => {
    const fixture = await newFixture({ k: 0 });
    const { service, session } = fixture;
    const invocation = invoke(fixture);
    const context = invocation.context({ agentName });
    context.state.update({ k: 1, 'temp:t': 1 });
    const event = createEvent({ actions: { stateDelta: { k: 2, l: 2 } } });
    await service.appendEvent({ session, event });
    assert.deepEqual(session.state, { k: 2, 'temp:t': 1, l: 2 });
    await invocation.append({}, { context });
    assert.deepEqual(await storedDeltas(fixture), [{ k: 2, l: 2 }, {}]);
    assert.equal(context.state.get('k'), 2);
  });

  it('end with the last write of each key, in any interleaving', async () => {
    const action = fc.record({
      kind: fc.constantFrom('write', 'remove', 'push', 'append', 'fail', 'wait'),
      agent: fc.nat(2),
      key: fc.constantFrom('a', 'user:b', 'app:c'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const fixture = await newFixture({}, new MapStorage());
        const { service, session } = fixture;
        const invocation = new Invocation({ service, session });
        const contexts = ['x', 'y', 'z'].map((name) => invocation.context({ agentName: name }));
        const running: Promise<unknown>[] = [];
        let serial = 0;
        for (const { kind, agent, key } of actions) {
          const context = contexts[agent];
          assert.ok(context);
          serial += 1;
          if (kind === 'write') context.state.set(key, [serial]);
          if (kind === 'remove') context.state.delete(key);
          if (kind === 'push') {
            context.state.get<number[]>(key)?.push(serial);
            // A change in place is as old as the moment when it is noticed.
            context.state.recordChanges();
          }
          if (kind === 'fail') fixture.failOnce(new Error('disk'));
          if (kind === 'append' || kind === 'fail') {
            running.push(invocation.append({}, { context }).catch(() => undefined));
          }
          if (kind === 'wait') await Promise.all(running);
        }
        await Promise.all(running);
        const seen = structuredClone(session.state);
        for (const context of contexts) await invocation.append({}, { context });
        assert.deepEqual(session.state, seen);
        const { state } = await fixture.stored();
        assert.deepEqual(state, seen);
        const fold: StateShape = {};
        for (const delta of await storedDeltas(fixture)) {
          for (const [key, value] of Object.entries(delta)) {
            if (value === '__ADK_SENTINEL_REMOVED__') delete fold[key];
            else fold[key] = value;
          }
        }
        assert.deepEqual(fold, seen);
      }),
      { numRuns: 150 },
    );
  });
});
