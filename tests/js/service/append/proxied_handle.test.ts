import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, type Session } from '../../../../js/index.js';
import { KEY, says, texts } from '../fixture.js';

/** Returns a deep proxy that counts what is asked of it. Each read of a member makes another proxy. */
function proxied<T extends object>(target: T, count: () => void): T {
  const wrap = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? proxied(value, count) : value;
  const counting = <Arguments extends unknown[], Result>(
    operation: (...given: Arguments) => Result,
  ) => {
    return (...given: Arguments): Result => {
      count();
      return operation(...given);
    };
  };
  const traps: ProxyHandler<object> = {
    get: counting((object, name) => wrap(Reflect.get(object, name))),
    set: counting((object, name, value) => Reflect.set(object, name, value)),
    has: counting(Reflect.has),
    ownKeys: counting(Reflect.ownKeys),
    getOwnPropertyDescriptor: counting(Reflect.getOwnPropertyDescriptor),
    isExtensible: counting(Reflect.isExtensible),
  };
  return new Proxy<object>(target, traps) as T;
}

/** Returns how often 20 appends look at a handle with this number of events. */
async function looksAt(length: number): Promise<number> {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  const events = Array.from({ length }, (_, at) => says(`old ${at}`));
  await service.appendEvents({ session, events });
  let looks = 0;
  const handle = proxied(session, () => (looks += 1));
  const append = (text: string) => service.appendEvent({ session: handle, event: says(text) });
  for (let at = 0; at < 3; at += 1) await append(`first ${at}`);
  looks = 0;
  for (let at = 0; at < 20; at += 1) await append(`later ${at}`);
  assert.equal(session.events.length, length + 23);
  return looks;
}

describe('A handle behind a proxy that makes another proxy at each read', () => {
  it('costs an append as much with 6,000 events as with 10', async () => {
    assert.equal(await looksAt(6000), await looksAt(10));
  });

  it('gets a replaced event in its place', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const handle: Session = proxied(session, () => undefined);
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      await service.appendEvent({ session: handle, event: { ...says(text), id: text } });
    }
    await service.appendEvent({ session: handle, event: { ...says('changed'), id: 'two' } });
    assert.deepEqual(texts(session), ['one', 'changed', 'three', 'four', 'five']);
  });

  it('is searched again after its array was exchanged', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const handle: Session = proxied(session, () => undefined);
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      await service.appendEvent({ session: handle, event: { ...says(text), id: text } });
    }
    Object.assign(session, { events: session.events.slice(2) });
    await service.appendEvent({ session: handle, event: { ...says('changed'), id: 'four' } });
    assert.deepEqual(texts(session), ['three', 'changed', 'five']);
  });
});
