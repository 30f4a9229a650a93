// Callers that change their objects right after a call.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { liveSession, type RunAgent } from '../../../../js/ui/live/index.js';
import { KEY, message, sessionOf, textOf } from './stores.js';

describe('A caller that changes its objects after a call', () => {
  it('changes nothing that send stores, shows or retries', async () => {
    const { service } = await sessionOf(0);
    const store = liveSession(service, KEY);
    const content = { role: 'user', parts: [{ text: 'Which tea?' }] };
    const actions = { stateDelta: { cart: { items: [1] } } };
    const sending = store.send({ ...message('e1'), content, actions: actions as never });
    content.parts[0]!.text = '';
    actions.stateDelta.cart.items.push(2);
    assert.equal(textOf(store.getSnapshot().events[0]), 'Which tea?');
    const sent = await sending;
    const stored = (await service.getSession(KEY))!;
    assert.equal(textOf(stored.events[0]), 'Which tea?');
    assert.deepEqual(stored.state, { cart: { items: [1] } });
    sent.content!.parts![0]!.text = 'changed';
    assert.equal(textOf(store.getSnapshot().events[0]), 'Which tea?');

    const append = service.appendEvent.bind(service);
    service.appendEvent = () => Promise.reject(new Error('offline'));
    const failing = { role: 'user', parts: [{ text: 'Hello?' }] };
    await assert.rejects(store.send({ ...message('e2'), content: failing }), /offline/);
    failing.parts[0]!.text = '';
    service.appendEvent = append;
    assert.equal(textOf(await store.retry('e2')), 'Hello?');
  });

  it('changes no draft', async () => {
    const { service } = await sessionOf(0);
    const content = { role: 'model', parts: [{ text: 'Green' }] };
    let isTaken = (): void => undefined;
    const taken = new Promise<void>((resolve) => (isTaken = resolve));
    const run: RunAgent = async function* () {
      yield { author: 'guide', partial: true, content };
      content.parts[0]!.text = '';
      isTaken();
      await new Promise(() => undefined);
    };
    const store = liveSession(service, KEY, { run });
    await store.ask({ role: 'user', parts: [{ text: 'Which tea?' }] });
    await taken;
    assert.equal(textOf(store.getSnapshot().drafts[0]), 'Green');
  });

  it('changes no state that is stored', async () => {
    const { service } = await sessionOf(0);
    const delta = { cart: { items: [1] } };
    const updating = liveSession(service, KEY).updateState(delta);
    delta.cart.items.push(2);
    await updating;
    assert.deepEqual((await service.getSession(KEY))!.state, { cart: { items: [1] } });
  });

  it('keeps what temp: keys refer to', async () => {
    const { service } = await sessionOf(0);
    const store = liveSession(service, KEY);
    const connection = { close: () => undefined };
    const actions = { stateDelta: { 'temp:connection': connection, a: 1 } } as never;
    await store.send({ ...message('e1'), actions });
    assert.deepEqual((await service.getSession(KEY))!.state, { a: 1 });
  });
});

it('A live session refuses what updateState of the service refuses', async () => {
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  const store = liveSession(service, KEY);
  for (const delta of [undefined, null, 5, [], 'tea']) {
    await assert.rejects(store.updateState(delta as never), { code: 'invalid_argument' });
  }
  await assert.rejects(store.updateState({ n: Number.NaN }), { code: 'unserializable', path: 'n' });
});
