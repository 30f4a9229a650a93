import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService, type Session } from '../../../../js/index.js';
import { failure, KEY, says, texts } from '../fixture.js';

/** The part of Vue's own package that is used here; typed here, so that the type check needs no Vue. */
interface Reactivity {
  readonly reactive: <T extends object>(value: T) => T;
}
const name = ['@vue', 'reactivity'].join('/');
const { reactive } = (await import(name)) as Reactivity;

const LENGTH = 10;

/** A session with events, whose handle is Vue's proxy. */
async function openReactive(): Promise<{ service: InMemorySessionService; handle: Session }> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  const events = Array.from({ length: LENGTH }, (_, at) => says(`old ${at}`));
  await service.appendEvents({ session, events });
  return { service, handle: reactive(session) };
}

describe('A reactive handle of Vue', () => {
  it('gets its stored events and state', async () => {
    const { service, handle } = await openReactive();
    const { state, events } = handle;
    const event = createEvent({
      id: 'e1',
      actions: { stateDelta: { cart: ['tea'], 'temp:x': 1 } },
    });
    await service.appendEvent({ session: handle, event });
    await service.appendEvents({ session: handle, events: [says('e2'), says('e3')] });
    const changed = createEvent({ ...event, author: 'changed', actions: { stateDelta: {} } });
    await service.appendEvent({ session: handle, event: changed });
    assert.equal(handle.state, state);
    assert.equal(handle.events, events);
    const stored = await service.getSession(KEY);
    assert.deepEqual(JSON.parse(JSON.stringify(handle.events)), stored?.events);
    assert.deepEqual({ ...handle.state }, { cart: ['tea'], 'temp:x': 1 });
  });

  it('gets the events of others', async () => {
    const { service, handle } = await openReactive();
    await service.appendEvent({ session: handle, event: says('mine') });
    const other = await service.getSession(KEY);
    assert.ok(other);
    await service.appendEvent({ session: other, event: says('theirs') });
    await service.appendEvent({ session: handle, event: says('mine again') });
    assert.deepEqual(texts(handle).slice(LENGTH), ['mine', 'theirs', 'mine again']);
  });

  it('has the revision of its session', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const handle = reactive(session);
    assert.equal(service.revisionOf(handle), service.revisionOf(session));
    await service.appendEvent({ session: handle, event: says('one') });
    assert.equal(service.revisionOf(session), service.revisionOf(handle));
  });

  it('is not stale after an append through the object that it stands for', async () => {
    const service = new InMemorySessionService({ stale: 'reject' });
    const session = await service.createSession(KEY);
    const handle = reactive(session);
    await service.appendEvent({ session: handle, event: says('one') });
    await service.appendEvent({ session, event: says('two') });
    await service.appendEvent({ session: handle, event: says('three') });
    assert.deepEqual(texts(session), ['one', 'two', 'three']);
  });

  it('appends nothing to a session that was created again with its id', async () => {
    const service = new InMemorySessionService();
    const handle = reactive(await service.createSession(KEY));
    await service.deleteSession(KEY);
    const later = await service.createSession(KEY);
    await failure(service.appendEvent({ session: handle, event: says('one') }), 'not_found');
    await service.appendEvent({ session: later, event: says('two') });
    assert.deepEqual(texts(later), ['two']);
  });
});
