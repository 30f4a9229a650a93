import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent, State } from '../../../../js/index.js';
import {
  begin,
  KEY,
  openOver,
  overStorages,
  says,
  SESSION_FIELDS,
  stored,
  texts,
} from '../../service/fixture.js';
import { gate, MapStorage } from '../../service/map_storage.js';

overStorages('A handle', (open) => {
  it('is a plain object with only the fields of a session', async () => {
    const { service, session } = await begin(open, { a: 1 });
    await service.appendEvent({ session, event: says('hi') });
    for (const handle of [session, await stored(service)]) {
      assert.deepEqual(Reflect.ownKeys(handle).sort(), SESSION_FIELDS);
      assert.equal(Object.getPrototypeOf(handle), Object.prototype);
      assert.deepEqual(Reflect.ownKeys(handle.state), ['a']);
      assert.equal(Object.getPrototypeOf(handle.state), Object.prototype);
    }
  });

  it('keeps its state object and its events array', async () => {
    const { service, session } = await begin(open, { a: 1 });
    const { state, events } = session;
    const event = says('hi', { a: 2, b: 3 });
    assert.equal(await service.appendEvent({ session, event }), event);
    assert.equal(session.state, state);
    assert.equal(session.events, events);
    assert.equal(events[0], event);
    assert.deepEqual(state, { a: 2, b: 3 });
  });

  it('replaces an event with the same id in its position', async () => {
    const { service, session } = await begin(open);
    for (const id of ['e1', 'e2', 'e3']) {
      await service.appendEvent({ session, event: { ...says(id), id } });
    }
    const replacement = { ...says('new', { a: 1 }), id: 'e2' };
    await service.appendEvent({ session, event: replacement });
    assert.deepEqual(texts(session), ['e1', 'new', 'e3']);
    assert.equal(session.events[1], replacement);
    const read = await stored(service);
    assert.deepEqual(texts(read), ['e1', 'new', 'e3']);
    assert.deepEqual(read.state, { a: 1 });
  });

  it('replaces an event after the caller cut and reversed the array', async () => {
    const { service, session } = await begin(open);
    for (const id of ['e1', 'e2', 'e3']) {
      await service.appendEvent({ session, event: { ...says(id), id } });
    }
    session.events.reverse();
    session.events.pop();
    await service.appendEvent({ session, event: { ...says('new'), id: 'e2' } });
    assert.deepEqual(texts(session), ['e3', 'new']);
    session.events.splice(0, 2, says('x'), session.events[0]!);
    await service.appendEvent({ session, event: { ...says('newer'), id: 'e3' } });
    assert.deepEqual(texts(session), ['x', 'newer']);
    assert.deepEqual(texts(await stored(service)), ['e1', 'new', 'newer']);
  });

  it('replaces an event after many appends and an exchanged middle', async () => {
    const { service, session } = await begin(open);
    const all = Array.from({ length: 40 }, (_, number) => `e${number}`);
    for (const id of all) await service.appendEvent({ session, event: { ...says(id), id } });
    assert.deepEqual(texts(session), all);
    // Neither the length nor the last element shows the exchange.
    const [third, tenth] = [session.events[3]!, session.events[10]!];
    session.events[3] = tenth;
    session.events[10] = third;
    for (const id of ['e3', 'e39', 'e10', 'e40']) {
      await service.appendEvent({ session, event: { ...says(`new ${id}`), id } });
    }
    const expected = [...all, 'new e40'];
    expected[10] = 'new e3';
    expected[3] = 'new e10';
    expected[39] = 'new e39';
    assert.deepEqual(texts(session), expected);
  });

  for (const mark of ['isCompacted', 'isScratchpad']) {
    it(`keeps one copy of an event with ${mark} that a compactor put in the middle after many appends`, async () => {
      const { service, session } = await begin(open);
      const all = ['e1', 'e2', 'e3', 'e4', 'e5'];
      for (const id of all) await service.appendEvent({ session, event: { ...says(id), id } });
      const summary = { ...says('summary'), id: 's1', [mark]: true };
      // Neither the length nor the last element shows the exchange.
      session.events.splice(1, 1, createEvent(summary));
      await service.appendEvent({ session, event: summary });
      assert.deepEqual(texts(session), ['e1', 'summary', 'e3', 'e4', 'e5']);
    });
  }

  it('replaces an event that the caller has put on it after many appends', async () => {
    const { service, session } = await begin(open);
    const all = ['e1', 'e2', 'e3', 'e4', 'e5'];
    for (const id of all) await service.appendEvent({ session, event: { ...says(id), id } });
    session.events.push({ ...says('own'), id: 'own' });
    await service.appendEvent({ session, event: { ...says('stored'), id: 'own' } });
    assert.deepEqual(texts(session), [...all, 'stored']);
  });

  it('loses keys that a delta removes', async () => {
    const { service, session } = await begin(open, { a: 1, 'user:b': 2, 'app:c': 3, d: null });
    const delta = { a: undefined, 'user:b': State.REMOVED, 'app:c': undefined };
    await service.appendEvent({ session, event: says('hi', delta) });
    assert.deepEqual(session.state, { d: null });
    assert.deepEqual((await stored(service)).state, { d: null });
  });

  it('keeps removals in the stored event as REMOVED', async () => {
    const { service, session } = await begin(open, { a: 1 });
    const event = says('hi', { a: undefined });
    await service.appendEvent({ session, event });
    const expected = { a: '__ADK_SENTINEL_REMOVED__' };
    assert.deepEqual(event.actions.stateDelta, expected);
    assert.deepEqual((await stored(service)).events[0]?.actions.stateDelta, expected);
  });

  it('gets temp: keys by reference, even functions, and the event loses them', async () => {
    const { service, session } = await begin(open);
    const socket = { send: (): string => 'sent', self: undefined as unknown };
    socket.self = socket;
    const close = (): void => undefined;
    const delta = { 'temp:socket': socket, 'temp:close': close, 'temp:n': 1n, kept: 1 };
    const event = createEvent();
    event.actions.stateDelta = delta;
    await service.appendEvent({ session, event });
    assert.equal(session.state['temp:socket'], socket);
    assert.equal(session.state['temp:close'], close);
    assert.equal(session.state['temp:n'], 1n);
    assert.deepEqual(event.actions.stateDelta, { kept: 1 });
    assert.equal(delta['temp:socket'], socket, "the caller's delta is theirs");
    const read = await stored(service);
    assert.deepEqual(read.state, { kept: 1 });
    assert.deepEqual(read.events[0]?.actions.stateDelta, { kept: 1 });
  });

  it('has no temp: key of its initial state', async () => {
    const { service, session } = await begin(open, { 'temp:x': () => 1, a: 1 });
    assert.deepEqual(session.state, { a: 1 });
    assert.deepEqual((await stored(service)).state, { a: 1 });
  });

  it('loses a temp: key that a delta removes', async () => {
    const { service, session } = await begin(open);
    await service.appendEvent({ session, event: says('one', { 'temp:x': 1 }) });
    await service.appendEvent({ session, event: says('two', { 'temp:x': undefined }) });
    assert.deepEqual(session.state, {});
  });

  it('has the time of its last change', async () => {
    const { service, session } = await begin(open, {}, { clock: () => 5000 });
    assert.equal(session.lastUpdateTime, 5000);
    for (const [timestamp, expected] of [
      [4000, 5000],
      [6000, 6000],
    ] as const) {
      await service.appendEvent({ session, event: { ...says('hi'), timestamp } });
      assert.equal(session.lastUpdateTime, expected);
    }
    assert.equal((await stored(service)).lastUpdateTime, 6000);
  });

  it('is unchanged if an append through it fails', async () => {
    const { service, session } = await begin(open, { a: 1 });
    await service.appendEvent({ session, event: says('one', { 'temp:t': 1 }) });
    const before = structuredClone(session);
    const wrong = says('two', { a: 2, 'temp:t': 2, bad: Number.NaN });
    await assert.rejects(service.appendEvent({ session, event: wrong }));
    assert.deepEqual(session, before);
    await service.deleteSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: says('three', { a: 3 }) }));
    assert.deepEqual(session, before);
  });

  it('copied by spread shares revision and state', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    const copy = { ...session };
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    await service.appendEvent({ session: copy, event: says('two', { b: 2 }) });
    await service.appendEvent({ session, event: says('three') });
    assert.deepEqual(texts(session), ['one', 'two', 'three']);
    assert.deepEqual(copy.state, { a: 1, b: 2 });
  });
});

for (const [what, freeze] of [
  ['state', (session: { state: object }) => Object.freeze(session.state)],
  ['events', (session: { events: object }) => Object.freeze(session.events)],
  ['fields', (session: object) => Object.freeze(session)],
] as const) {
  it(`An append succeeds although the caller freezes the handle's ${what} meanwhile`, async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession({ ...KEY, state: { a: 1 } });
    const { opened, open } = gate();
    storage.pause = () => opened;
    const promise = service.appendEvent({ session, event: says('hi', { a: 2 }) });
    freeze(session);
    open();
    // The event is stored, so the append must not fail.
    await promise;
    assert.deepEqual(texts(await stored(service)), ['hi']);
  });
}

it('A handle with a read-only state key is refused before anything is stored, or works', async () => {
  const service = await openOver(new MapStorage());
  const session = await service.createSession({ ...KEY, state: { a: 1 } });
  Object.defineProperty(session.state, 'a', { writable: false, configurable: false });
  const event = says('hi', { a: 2 });
  const outcome = await service.appendEvent({ session, event }).then(
    () => 'stored',
    (error: { code?: string }) => error.code,
  );
  const { events } = await stored(service);
  if (outcome === 'stored') assert.equal(events.length, 1);
  else assert.deepEqual([outcome, events], ['invalid_argument', []]);
});
