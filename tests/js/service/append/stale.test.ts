import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, type StateShape } from '../../../../js/index.js';
import { begin, failure, fromJson, KEY, overStorages, says, show, stored, texts, USER } from '../fixture.js'; // prettier-ignore

overStorages("A stale handle with stale: 'merge'", (open) => {
  it('receives missed events, in order, before its own event', async () => {
    const { service, session } = await begin(open, { a: 0 });
    const late = await stored(service);
    const { events, state } = late;
    await service.appendEvent({ session, event: says('one', { a: 1, b: 1 }) });
    await service.appendEvent({ session, event: says('two', { b: 2, a: undefined }) });
    await service.appendEvent({ session: late, event: says('three', { c: 3 }) });
    assert.deepEqual(texts(late), ['one', 'two', 'three']);
    assert.deepEqual(late.state, { b: 2, c: 3 });
    assert.equal(late.events, events);
    assert.equal(late.state, state);
    assert.deepEqual(late, await stored(service));
  });

  it('applies its own delta after the missed ones', async () => {
    const { service, session } = await begin(open, { a: 0 });
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    await service.appendEvent({ session: late, event: says('two', { a: 2 }) });
    assert.equal(late.state.a, 2);
    assert.equal((await stored(service)).state.a, 2);
  });

  it('keeps keys that exist only on the handle', async () => {
    const { service, session } = await begin(open);
    const late = await stored(service);
    Object.assign(late.state, { mine: 1 });
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    await service.appendEvent({ session: late, event: says('two', { 'temp:t': 1 }) });
    assert.deepEqual(late.state, { mine: 1, a: 1, 'temp:t': 1 });
  });

  it('shares no object between missed events and state', async () => {
    const { service, session } = await begin(open);
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one', { a: { n: 1 } }) });
    await service.appendEvent({ session: late, event: says('two') });
    assert.notEqual(late.state.a, late.events[0]?.actions.stateDelta.a);
    assert.notEqual(late.state.a, session.state.a);
  });

  it('receives missed events even with an empty window', async () => {
    const { service, session } = await begin(open);
    await service.appendEvent({ session, event: says('before', { a: 1 }) });
    const windowed = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    assert.ok(windowed);
    await service.appendEvent({ session, event: says('missed', { b: 1 }) });
    await service.appendEvent({ session: windowed, event: says('own') });
    assert.deepEqual(texts(windowed), ['missed', 'own']);
    assert.deepEqual(windowed.state, { a: 1, b: 1 });
  });

  it('receives a replaced event only if it has that event', async () => {
    const { service, session } = await begin(open);
    for (const id of ['e1', 'e2']) {
      await service.appendEvent({ session, event: { ...says(id), id } });
    }
    const windowed = await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    const late = await stored(service);
    assert.ok(windowed);
    for (const id of ['e1', 'e2']) {
      const event = { ...says(`new ${id}`, { [id]: 1 }), id };
      await service.appendEvent({ session, event });
    }
    await service.appendEvent({ session: windowed, event: says('own') });
    await service.appendEvent({ session: late, event: says('other') });
    assert.deepEqual(texts(windowed), ['new e2', 'own']);
    assert.deepEqual(texts(late), ['new e1', 'new e2', 'own', 'other']);
    assert.deepEqual(windowed.state, { e1: 1, e2: 1 });
  });

  it('receives all keys of a replaced event, even those of earlier versions', async () => {
    const { service, session } = await begin(open);
    const event = (text: string, delta: StateShape) => ({ ...says(text, delta), id: 'e1' });
    await service.appendEvent({ session, event: event('one', { a: 1, gone: 1 }) });
    const late = await stored(service);
    Object.assign(late.state, { mine: 1 });
    const delta = { b: 2, 'user:b': 2, 'app:b': 2, gone: undefined };
    await service.appendEvent({ session, event: event('two', delta) });
    await service.appendEvent({ session, event: event('three', { c: 3, gone: undefined }) });
    await service.appendEvent({ session: late, event: says('own', { d: 4 }) });
    assert.deepEqual(texts(late), ['three', 'own']);
    const { state } = await stored(service);
    assert.deepEqual(state, { a: 1, b: 2, 'user:b': 2, 'app:b': 2, c: 3, d: 4 });
    assert.deepEqual(late.state, { ...state, mine: 1 });
  });

  it('receives all keys of replaced events in a batch and in a write of several calls', async () => {
    const { service, session } = await begin(open);
    const [one, two] = [await stored(service), await stored(service)];
    const events = ['one', 'two'].map((text) => ({ ...says(text, { [text]: 1 }), id: 'e1' }));
    for (const event of events) await service.appendEvent({ session, event });
    await service.appendEvents({ session: one, events: [says('three', { a: 1 }), says('four')] });
    const again = [says('five', { b: 1 }), says('six')];
    await Promise.all(again.map((event) => service.appendEvent({ session: two, event })));
    assert.deepEqual(one.state, { one: 1, two: 1, a: 1 });
    assert.deepEqual(two.state, { one: 1, two: 1, a: 1, b: 1 });
  });

  it('receives app and user changes of other sessions only at the next read', async () => {
    const { service, session } = await begin(open);
    const other = await service.createSession({ ...USER, sessionId: 'other' });
    await service.appendEvent({ session: other, event: says('x', { 'user:a': 1, 'app:b': 1 }) });
    await service.appendEvent({ session, event: says('own') });
    assert.deepEqual(session.state, {});
    assert.deepEqual((await stored(service)).state, { 'user:a': 1, 'app:b': 1 });
  });

  it('receives a change by updateState', async () => {
    const { service, session } = await begin(open);
    await service.updateState({ ...KEY, stateDelta: { a: 1 } });
    await service.appendEvent({ session, event: says('own') });
    assert.equal(session.events.length, 2);
    assert.deepEqual(session.state, { a: 1 });
  });
});

overStorages("A stale handle with stale: 'append'", (open) => {
  it('receives only its own event, which is stored', async () => {
    const { service, session } = await begin(open, { a: 0 }, { stale: 'append' });
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    await service.appendEvent({ session: late, event: says('two', { b: 2 }) });
    assert.deepEqual(texts(late), ['two']);
    assert.deepEqual(late.state, { a: 0, b: 2 });
    assert.deepEqual(texts(await stored(service)), ['one', 'two']);
    assert.deepEqual((await stored(service)).state, { a: 1, b: 2 });
  });
});

overStorages("A stale handle with stale: 'reject'", (open) => {
  it('is refused with both revisions, and nothing is changed', async () => {
    const { service, session } = await begin(open, { a: 0 }, { stale: 'reject' });
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    const before = structuredClone([late, await stored(service)]);
    const event = says('two', { a: 2, 'temp:t': 1 });
    const error = await failure(service.appendEvent({ session: late, event }), 'stale_session');
    assert.equal(error.staleReason, 'handle_behind');
    assert.ok(Number.isSafeInteger(error.expectedRevision));
    assert.ok(error.actualRevision! > error.expectedRevision!);
    assert.deepEqual([late, await stored(service)], before);
    assert.deepEqual(event.actions.stateDelta, { a: 2, 'temp:t': 1 });
    const again = await stored(service);
    await service.appendEvent({ session: again, event });
    assert.deepEqual(texts(again), ['one', 'two']);
  });

  it('is refused at each attempt', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one') });
    for (let time = 0; time < 3; time += 1) {
      await failure(service.appendEvent({ session: late, event: says('x') }), 'stale_session');
    }
  });

  it('is refused after updateState on its session', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    await service.updateState({ ...KEY, stateDelta: { a: 1 } });
    await failure(service.appendEvent({ session, event: says('x') }), 'stale_session');
  });

  it('is not stale because of changes to other sessions, users or apps', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const other = await service.createSession({ ...USER, sessionId: 'other' });
    await service.appendEvent({ session: other, event: says('x', { 'user:a': 1 }) });
    await service.updateState({ ...USER, stateDelta: { 'app:b': 1 } });
    await service.appendEvent({ session, event: says('own') });
    assert.deepEqual(texts(session), ['own']);
  });

  it('is current with any window, even from a list', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    await service.appendEvent({ session, event: says('one') });
    const windowed = await service.getSession({ ...KEY, config: { afterTimestamp: 9e14 } });
    assert.deepEqual(windowed?.events, []);
    assert.ok(windowed);
    await service.appendEvent({ session: windowed, event: says('two') });
    const [listed] = (await service.listSessions(USER)).sessions;
    await service.appendEvent({ session: listed!, event: says('three') });
    assert.deepEqual(texts(listed!), ['three']);
    assert.deepEqual(texts(await stored(service)), ['one', 'two', 'three']);
  });
});

overStorages('A handle that the service did not give out', (open) => {
  it('is current if its last event is the last one stored', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    await service.appendEvent({ session, event: says('one') });
    const clone = fromJson(session);
    await service.appendEvent({ session: clone, event: says('two') });
    await service.appendEvent({ session: clone, event: says('three') });
    assert.deepEqual(texts(clone), ['one', 'two', 'three']);
    await failure(service.appendEvent({ session, event: says('x') }), 'stale_session');
  });

  it('is current without events if none are stored', async () => {
    const { service } = await begin(open, {}, { stale: 'reject' });
    const made = { ...USER, id: 'session', state: {}, events: [], lastUpdateTime: 0 };
    await service.appendEvent({ session: made, event: says('one', { a: 1 }) });
    assert.deepEqual(made.state, { a: 1 });
    assert.deepEqual(texts(await stored(service)), ['one']);
  });

  it('is stale if events are stored after its last one', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    await service.appendEvent({ session, event: says('one') });
    const clone = fromJson(session);
    const empty = { ...fromJson(session), events: [] };
    await service.appendEvent({ session, event: says('two') });
    for (const handle of [clone, empty]) {
      const promise = service.appendEvent({ session: handle, event: says('x') });
      await failure(promise, 'stale_session');
    }
  });

  it('receives missed events', async () => {
    const { service, session } = await begin(open);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    const clone = structuredClone(session);
    await service.appendEvent({ session, event: says('two', { a: 2 }) });
    await service.appendEvent({ session: clone, event: says('three') });
    assert.deepEqual(texts(clone), ['one', 'two', 'three']);
    assert.deepEqual(clone.state, { a: 2 });
  });

  it('with a last event that is not stored receives all events', async () => {
    const { service, session } = await begin(open);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    const made = { ...fromJson(session), events: [says('unknown')] };
    await service.appendEvent({ session: made, event: says('two') });
    assert.deepEqual(texts(made), ['unknown', 'one', 'two']);
    assert.deepEqual(texts(await stored(service)), ['one', 'two']);
  });

  it('queues its appends like any other', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const clone = fromJson(session);
    const names = ['one', 'two', 'three'];
    await Promise.all(
      names.map((name) => service.appendEvent({ session: clone, event: says(name) })),
    );
    assert.deepEqual(texts(clone), names);
  });

  it('can be one of another service, whose revisions do not apply here', async () => {
    const elsewhere = new InMemorySessionService();
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    await elsewhere.createSession(KEY);
    await service.appendEvent({ session, event: says('one') });
    await elsewhere.appendEvent({ session, event: says('two') });
    assert.deepEqual(texts((await elsewhere.getSession(KEY))!), ['two']);
    assert.deepEqual(texts(await stored(service)), ['one']);
  });

  for (const last of [{ id: Symbol('x') }, { id: 5 }, { id: null }, { id: {} }, {}, null, 5]) {
    it(`with ${typeof last === 'object' ? `a last event of id ${typeof last?.id}` : typeof last} among its events loses no data`, async () => {
      const { service, session } = await begin(open);
      await service.appendEvent({ session, event: says('one', { a: 1 }) });
      const made = { ...fromJson(session), events: [last as never] };
      await service.appendEvent({ session: made, event: says('two') });
      assert.deepEqual(made.events.slice(1).length, 2);
      assert.deepEqual(texts(await stored(service)), ['one', 'two']);
    });
  }

  it('of a missing session is refused', async () => {
    const service = await open();
    const made = { ...USER, id: 'nobody', state: {}, events: [], lastUpdateTime: 0 };
    await failure(service.appendEvent({ session: made, event: says('x') }), 'not_found');
    assert.deepEqual(made.events, []);
  });
});

overStorages('A handle of a session that was deleted', (open) => {
  it('is refused', async () => {
    const { service, session } = await begin(open);
    await service.deleteSession(KEY);
    await failure(service.appendEvent({ session, event: says('x') }), 'not_found');
    assert.equal(await service.getSession(KEY), undefined);
  });

  for (const stale of ['merge', 'append', 'reject'] as const) {
    it(`is refused although the id exists again (stale: '${stale}')`, async () => {
      const { service, session } = await begin(open, { a: 1, 'user:u': 1 }, { stale });
      await service.appendEvent({ session, event: says('old') });
      const before = structuredClone(session);
      await service.deleteSession(KEY);
      const next = await service.createSession(KEY);
      assert.deepEqual([next.events, next.state], [[], { 'user:u': 1 }]);
      const event = says('x', { a: 2 });
      await failure(service.appendEvent({ session, event }), 'not_found');
      assert.deepEqual(session, before);
      assert.deepEqual(await stored(service), next);
      await service.appendEvent({ session: next, event });
      assert.deepEqual(texts(next), ['x']);
    });
  }

  it('is refused if the user was deleted and created again', async () => {
    const { service, session } = await begin(open, { 'user:u': 1 });
    await service.deleteUser(USER);
    const next = await service.createSession(KEY);
    assert.deepEqual(next.state, {});
    await failure(service.appendEvent({ session, event: says('x') }), 'not_found');
  });
});

describe('The option `stale`', () => {
  for (const stale of ['Merge', '', 'toString', '__proto__', 0, null, 1n, {}, Symbol('x')]) {
    it(`refuses ${show(stale)}`, () => {
      assert.throws(
        () => new InMemorySessionService({ stale: stale as never }),
        (error: { code?: string; message: string }) =>
          error.code === 'invalid_argument' && error.message.includes('stale'),
      );
    });
  }
});
