// The snapshot of an append at its call, and changes of the handle by the caller meanwhile.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, type Session } from '../../../../js/index.js';
import { begin, imported, KEY, overStorages, says, stored, texts } from '../fixture.js';

overStorages('An append', (open) => {
  for (const calls of [1, 2]) {
    it(`goes to the session that the handle had at the call, with ${calls} at once`, async () => {
      const { service, session } = await begin(open);
      const other = await service.createSession({ ...KEY, userId: 'bob' });
      const appends = Array.from({ length: calls }, (_, number) =>
        service.appendEvent({ session, event: says(`${number}`, { 'user:name': 'Ada', n: 1 }) }),
      );
      session.userId = 'bob';
      await Promise.all(appends);
      const ofBob = await stored(service, { ...KEY, userId: 'bob' });
      assert.deepEqual([ofBob.events, ofBob.state], [[], {}]);
      assert.equal((await stored(service)).events.length, calls);
      assert.deepEqual(other.events, []);
    });
  }

  it('through one object with changing ids goes to the session of each call', async () => {
    const { service, session } = await begin(open);
    await service.createSession({ ...KEY, sessionId: 'other' });
    const first = service.appendEvent({ session, event: says('first') });
    session.id = 'other';
    const second = service.appendEvent({ session, event: says('second') });
    await Promise.allSettled([first, second]);
    assert.deepEqual(texts(await stored(service)), ['first']);
  });

  it("changes the objects that the handle had at the call, even if it is another session's now", async () => {
    const { service, session } = await begin(open);
    await service.createSession(imported({ ...KEY, sessionId: 'other', lastUpdateTime: 5 }));
    const other = await stored(service, { ...KEY, sessionId: 'other' });
    const { state, events } = session;
    const appended = service.appendEvent({ session, event: says('hello', { n: 1 }) });
    Object.assign(session, other);
    await appended;
    assert.deepEqual([session.events, session.state, session.lastUpdateTime], [[], {}, 5]);
    assert.deepEqual([events.length, state], [1, { n: 1 }]);
  });

  it('stores the delta as it was at the call', async () => {
    const { service, session } = await begin(open);
    const cart = ['tea'];
    const event = says('order', { cart });
    const appended = service.appendEvent({ session, event });
    cart.push('milk');
    event.actions.stateDelta.more = 1;
    await appended;
    assert.deepEqual((await stored(service)).state, { cart: ['tea'] });
    assert.deepEqual(session.state, { cart: ['tea'] });
  });

  it('is stored even if the handle refuses it, and reaches the handle at the next one', async () => {
    const { service, session } = await begin(open);
    let isHostile = false;
    const refuse = (): void => {
      if (isHostile) throw new Error('no');
    };
    const handle: Session = {
      ...session,
      state: new Proxy(session.state, {
        set: (target, key, value) => (refuse(), Reflect.set(target, key, value)),
      }),
      events: new Proxy(session.events, {
        set: (target, key, value) => (refuse(), Reflect.set(target, key, value)),
      }),
    };
    await service.appendEvent({ session: handle, event: says('first', { n: 1 }) });
    isHostile = true;
    const event = says('second', { n: 2, m: 2 });
    assert.equal(await service.appendEvent({ session: handle, event }), event);
    isHostile = false;
    assert.deepEqual([texts(handle), handle.state], [['first'], { n: 1 }]);
    await service.appendEvent({ session: handle, event: says('third') });
    assert.deepEqual([texts(handle), handle.state], [['first', 'second', 'third'], { n: 2, m: 2 }]);
    assert.deepEqual(texts(await stored(service)), ['first', 'second', 'third']);
  });

  it('through such a handle is refused as stale with `reject`', async () => {
    const { service, session } = await begin(open, {}, { stale: 'reject' });
    let isHostile = true;
    const events = new Proxy(session.events, {
      set(target, key, value) {
        if (isHostile) throw new Error('no');
        return Reflect.set(target, key, value);
      },
    });
    Object.assign(session, { events });
    await service.appendEvent({ session, event: says('first') });
    isHostile = false;
    await assert.rejects(service.appendEvent({ session, event: says('second') }), {
      code: 'stale_session',
    });
  });

  it('resolves if the caller removes the array or the time from the handle', async () => {
    const { service, session } = await begin(open);
    const { events } = session;
    const appended = service.appendEvent({ session, event: says('first') });
    Object.assign(session, { events: null });
    Object.defineProperty(session, 'lastUpdateTime', {
      set() {
        throw new Error('no');
      },
    });
    await appended;
    assert.equal(events.length, 1);
    assert.deepEqual(texts(await stored(service)), ['first']);
  });

  it('of an event whose actions became read-only resolves', async () => {
    const { service, session } = await begin(open);
    const event = says('first', { 'temp:a': 1 });
    const appended = service.appendEvent({ session, event });
    Object.defineProperty(event, 'actions', {
      get() {
        throw new Error('no');
      },
    });
    await appended;
    assert.deepEqual(texts(await stored(service)), ['first']);
  });
});

it('An append of a thousand events through a handle of proxies reads no history', async () => {
  const service = new InMemorySessionService();
  const reads = async (count: number, wrap: (session: Session) => Session): Promise<number> => {
    const key = { ...KEY, sessionId: `s${count}` };
    const session = await service.createSession(key);
    const events = Array.from({ length: count }, (_, number) => says(`${number}`));
    await service.appendEvents({ session, events });
    let looks = 0;
    const proxied = wrap(proxiedBy(await stored(service, key), () => (looks += 1)));
    for (let warm = 0; warm < 8; warm += 1) {
      await service.appendEvent({ session: proxied, event: says('warm') });
    }
    looks = 0;
    for (let n = 0; n < 10; n += 1) {
      await service.appendEvent({ session: proxied, event: says('another') });
    }
    assert.equal((await stored(service, key)).events.length, count + 18);
    assert.equal(proxied.events.length, count + 18);
    return looks;
  };
  const same = (session: Session) => session;
  assert.equal(await reads(1_000, same), await reads(50, same));
});

/** A handle as a framework makes it reactive: all that is read from it is a proxy, the same each time. */
function proxiedBy<T extends object>(root: T, look: () => void): T {
  const proxies = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    let proxy = proxies.get(value);
    if (proxy === undefined) {
      proxy = new Proxy(value, {
        get(target, key, receiver) {
          look();
          return wrap(Reflect.get(target, key, receiver));
        },
      });
      proxies.set(value, proxy);
    }
    return proxy;
  };
  return wrap(root) as T;
}
