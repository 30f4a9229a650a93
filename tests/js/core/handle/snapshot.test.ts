import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent, type Event, type Session } from '../../../../js/index.js';
import { begin, KEY, overStorages, says, stored, texts, USER } from '../../service/fixture.js';

interface Cart {
  items: { price: number }[];
}

const nested = (): { cart: Cart } => ({ cart: { items: [{ price: 1 }] } });

function spoil(session: Session): void {
  session.id = 'other';
  session.lastUpdateTime = 0;
  for (const event of session.events) {
    event.author = 'changed';
    if (event.content?.parts?.[0]) event.content.parts[0].text = 'changed';
    for (const key of Object.keys(event.actions.stateDelta)) delete event.actions.stateDelta[key];
  }
  session.events.length = 0;
  const { cart } = session.state as { cart?: Cart };
  if (cart?.items[0]) cart.items[0].price = 99;
  Object.assign(session.state, { added: true });
}

overStorages('What is stored', (open) => {
  it("does not change with the initial state's object", async () => {
    const state = nested();
    const { service } = await begin(open, state);
    state.cart.items.push({ price: 2 });
    assert.deepEqual((await stored(service)).state, nested());
  });

  it('does not change while the session is being created', async () => {
    const service = await open();
    const state = nested();
    const promise = service.createSession({ ...KEY, state });
    state.cart.items.push({ price: 2 });
    await promise;
    assert.deepEqual((await stored(service)).state, nested());
  });

  it('does not change with the appended event, its delta or nested values', async () => {
    const { service, session } = await begin(open);
    const delta: Record<string, unknown> = nested();
    const event = says('hi', {});
    event.actions.stateDelta = delta;
    event.customMetadata = { tags: ['one'] };
    await service.appendEvent({ session, event });
    const before = structuredClone(await stored(service));
    (delta.cart as Cart).items.push({ price: 2 });
    delta.more = 1;
    event.actions.stateDelta.more = 1;
    (event.customMetadata.tags as string[]).push('two');
    event.content = { parts: [{ text: 'changed' }] };
    assert.deepEqual(await stored(service), before);
  });

  it('is the event at the call, not at the end of the append', async () => {
    const { service, session } = await begin(open);
    const event = says('hi', nested());
    const promise = service.appendEvent({ session, event });
    event.content = { parts: [{ text: 'changed' }] };
    (event.actions.stateDelta.cart as Cart).items.push({ price: 2 });
    await promise;
    const read = await stored(service);
    assert.deepEqual(texts(read), ['hi']);
    assert.deepEqual(read.state, nested());
  });

  it('does not change with the handle', async () => {
    const { service, session } = await begin(open, nested());
    await service.appendEvent({ session, event: says('hi') });
    const before = structuredClone(await stored(service));
    spoil(session);
    assert.deepEqual(await stored(service), before);
  });

  it('does not change with results of reads', async () => {
    const { service, session } = await begin(open, nested());
    await service.appendEvent({ session, event: says('hi', { 'user:a': 1, 'app:b': 2 }) });
    const before = structuredClone(await stored(service));
    spoil(await stored(service));
    const { sessions } = await service.listSessions(USER);
    for (const listed of sessions) spoil(listed);
    (await service.getUserState(USER)).a = 9;
    (await service.getAppState(USER)).b = 9;
    assert.deepEqual(await stored(service), before);
    assert.deepEqual(await service.getUserState(USER), { a: 1 });
    assert.deepEqual(await service.getAppState(USER), { b: 2 });
  });

  it('never contains writes to a handle, not even at the next append', async () => {
    const { service, session } = await begin(open, { a: 1 });
    Object.assign(session.state, { a: 2, b: 3 });
    session.events.push(says('smuggled'));
    await service.appendEvent({ session, event: says('hi', { c: 4 }) });
    const read = await stored(service);
    assert.deepEqual(read.state, { a: 1, c: 4 });
    assert.deepEqual(texts(read), ['hi']);
  });

  it('is not shared by two events or two reads', async () => {
    const { service, session } = await begin(open, nested());
    await service.appendEvent({ session, event: says('hi', nested()) });
    const [one, other] = [await stored(service), await stored(service)];
    assert.notEqual(one.state, other.state);
    assert.notEqual(one.state.cart, other.state.cart);
    assert.notEqual(one.events[0], other.events[0]);
    assert.notEqual(one.state.cart, one.events[0]?.actions.stateDelta.cart);
  });

  it('keeps unknown fields exactly', async () => {
    const { service, session } = await begin(open);
    const fields = { mine: { deep: [1, null, 'ü', { '': 0 }] }, $schema: 'x', 'a b': 1e21 };
    const event = createEvent({ ...fields, author: 'me', content: { parts: [{ text: 'x' }] } });
    await service.appendEvent({ session, event });
    const [read] = (await stored(service)).events as (Event & typeof fields)[];
    assert.deepEqual(read, JSON.parse(JSON.stringify(event)));
    assert.deepEqual({ mine: read?.mine, $schema: read?.$schema, 'a b': read?.['a b'] }, fields);
  });

  it('keeps numbers, key order and inherited names', async () => {
    const state = JSON.parse(
      '{"b":1e-7,"a":[5e-324,1.7976931348623157e308,9007199254740993,0],"__proto__":{"x":1},' +
        '"constructor":2,"toString":3,"hasOwnProperty":4,"user:__proto__":5,"app:constructor":6}',
    ) as Record<string, unknown>;
    const delta = JSON.parse('{"z":1,"__proto__":7}') as Record<string, unknown>;
    const { service, session } = await begin(open, state);
    await service.appendEvent({ session, event: says('hi', delta) });
    const read = await stored(service);
    assert.deepEqual(read.state.a, state.a);
    assert.deepEqual(Object.getOwnPropertyDescriptor(read.state, '__proto__')?.value, 7);
    assert.deepEqual(Object.getOwnPropertyDescriptor(session.state, '__proto__')?.value, 7);
    assert.equal(Object.getPrototypeOf(read.state), Object.prototype);
    assert.deepEqual(
      Object.keys(read.state).filter((key) => !key.includes(':')),
      ['b', 'a', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'z'],
    );
    assert.deepEqual(Object.entries(await service.getUserState(USER)), [['__proto__', 5]]);
    assert.deepEqual(Object.entries(await service.getAppState(USER)), [['constructor', 6]]);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });

  it('is the result of toJSON, on the handle too', async () => {
    const at = new Date(0);
    const { service, session } = await begin(open, { at });
    assert.deepEqual(session.state, { at: '1970-01-01T00:00:00.000Z' });
    await service.appendEvent({ session, event: says('hi', { again: { at } }) });
    const expected = { at: '1970-01-01T00:00:00.000Z' };
    assert.deepEqual(session.state, { ...expected, again: expected });
    assert.deepEqual((await stored(service)).state, session.state);
  });

  it('omits undefined members, has null for undefined elements, and 0 for −0', async () => {
    const { service, session } = await begin(open, { top: undefined, a: -0 });
    const delta = { deep: { gone: undefined, list: [undefined, -0] } };
    await service.appendEvent({ session, event: says('hi', delta) });
    const expected = { a: 0, deep: { list: [null, 0] } };
    assert.deepEqual((await stored(service)).state, expected);
    assert.deepEqual(session.state, expected);
    assert.ok(Object.is(session.state.a, 0));
  });
});
