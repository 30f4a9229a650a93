import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { APP, begin, failure, KEY, openOver, overStorages, says, stored, texts, USER } from '../../service/fixture.js'; // prettier-ignore
import type { Abortable } from '../../../../js/values/model/session.js';
import { gate, MapStorage } from '../../service/map_storage.js';

overStorages('A signal that fired before the call', (open) => {
  it('stops every method with its reason, and writes nothing', async () => {
    const { service, session } = await begin(open, { a: 1, 'user:u': 1, 'app:a': 1 });
    const reason = new Error('the user left');
    const signal = AbortSignal.abort(reason);
    const event = says('x', { a: 2, 'temp:t': 1 });
    const before = structuredClone([await stored(service), session, event]);
    for (const call of [
      () => service.createSession({ ...USER, sessionId: 'new', signal }),
      () => service.getSession({ ...KEY, signal }),
      () => service.getOrCreateSession({ ...USER, sessionId: 'new', signal }),
      () => service.listSessions({ ...APP, signal }),
      () => service.deleteSession({ ...KEY, signal }),
      () => service.appendEvent({ session, event, signal }),
      () => service.appendEvents({ session, events: [event], signal }),
      () => service.updateState({ ...KEY, stateDelta: { a: 3 }, signal }),
      () => service.updateState({ ...USER, stateDelta: { 'user:u': 3 }, signal }),
      () => service.getUserState({ ...USER, signal }),
      () => service.getAppState({ ...APP, signal }),
      () => service.deleteUser({ ...USER, signal }),
      () => service.deleteUserState({ ...USER, signal }),
      () => service.deleteAppState({ ...APP, signal }),
    ]) {
      const error = await failure(call(), 'aborted');
      assert.equal(error.cause, reason);
    }
    assert.deepEqual([await stored(service), session, event], before);
    assert.equal((await service.listSessions(APP)).totalItems, 1);
  });

  it("has AbortSignal's own reason by default", async () => {
    const service = await open();
    const error = await failure(
      service.getSession({ ...KEY, signal: AbortSignal.abort() }),
      'aborted',
    );
    assert.equal((error.cause as DOMException).name, 'AbortError');
  });

  it('can have a reason that is not an Error', async () => {
    const service = await open();
    for (const reason of ['left', 0, null, { a: 1 }]) {
      const signal = AbortSignal.abort(reason);
      const error = await failure(service.getSession({ ...KEY, signal }), 'aborted');
      assert.deepEqual(error.cause, reason);
    }
  });

  it('has no effect while it does not fire', async () => {
    const { service, session } = await begin(open);
    const { signal } = new AbortController();
    await service.appendEvent({ session, event: says('one'), signal });
    assert.deepEqual(texts((await service.getSession({ ...KEY, signal }))!), ['one']);
  });
});

describe('A signal that fires while an append is under way', () => {
  it('stops an append that waits in the queue, and no other', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const controller = new AbortController();
    const { opened, open } = gate();
    storage.pause = () => opened;
    const first = service.appendEvent({ session, event: says('one') });
    const event = says('two', { a: 1, 'temp:t': 1 });
    const second = service.appendEvent({ session, event, signal: controller.signal });
    const third = service.appendEvent({ session, event: says('three') });
    controller.abort('changed my mind');
    // Immediately: the storage has not responded to the first one.
    const error = await failure(second, 'aborted');
    assert.equal(error.cause, 'changed my mind');
    open();
    await Promise.all([first, third]);
    assert.deepEqual(texts(session), ['one', 'three']);
    assert.deepEqual(texts(await stored(service)), ['one', 'three']);
    assert.deepEqual([session.state, event.actions.stateDelta], [{}, { a: 1, 'temp:t': 1 }]);
    await service.appendEvent({ session, event });
    assert.deepEqual(texts(session), ['one', 'three', 'two']);
  });

  it('ends no other append if it fires a second time', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const { opened, open } = gate();
    storage.pause = () => opened;
    const first = service.appendEvent({ session, event: says('one') });
    // In the next microtask the first append is under way, and later ones have to wait for it.
    await Promise.resolve();
    const listeners: (() => void)[] = [];
    const addEventListener = (_: string, listener: () => void) => void listeners.push(listener);
    const signal = { aborted: false, reason: 'left', addEventListener };
    const event = says('two');
    const second = service.appendEvent({ session, event, signal: signal as never });
    const third = service.appendEvent({ session, event: says('three') });
    for (let times = 0; times < 2; times += 1) listeners.forEach((listener) => listener());
    await failure(second, 'aborted');
    open();
    await Promise.all([first, third]);
    assert.deepEqual(texts(session), ['one', 'three']);
  });

  it('that takes no listener fails its append, which stores nothing', async () => {
    const service = await openOver(new MapStorage());
    const session = await service.createSession(KEY);
    const { signal } = new AbortController();
    const addEventListener = () => {
      throw new Error('no listener');
    };
    Object.defineProperty(signal, 'addEventListener', { value: addEventListener });
    await assert.rejects(service.appendEvent({ session, event: says('one'), signal }));
    await service.appendEvent({ session, event: says('two') });
    assert.deepEqual(texts(await stored(service)), ['two']);
  });

  it('reaches the storage when no caller waits for the write', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const signals: (AbortSignal | undefined)[] = [];
    const [begun, mayEnd] = [[gate(), gate()] as const, [gate(), gate()] as const];
    storage.append = async ({ signal, ...request }, decide) => {
      const number = signals.push(signal) === 1 ? 0 : 1;
      begun[number].open();
      await mayEnd[number].opened;
      return storage.write(request, decide);
    };
    const first = service.appendEvent({ session, event: says('one') });
    await begun[0].opened;
    const controllers = [new AbortController(), new AbortController()] as const;
    const appends = controllers.map(({ signal }) =>
      service.appendEvent({ session, event: says('more'), signal }),
    );
    mayEnd[0].open();
    await first;
    await begun[1].opened;
    controllers[0].abort();
    assert.equal(signals[1]?.aborted, false);
    controllers[1].abort('left');
    assert.deepEqual([signals[1]?.aborted, signals[1]?.reason], [true, 'left']);
    mayEnd[1].open();
    await Promise.all(appends);
    assert.deepEqual(texts(await stored(service)), ['one', 'more', 'more']);
  });

  it('does not affect an append whose commit has begun', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const controller = new AbortController();
    const { signal } = controller;
    const [begun, { opened, open }] = [gate(), gate()];
    storage.pause = () => {
      begun.open();
      return opened;
    };
    const event = says('one', { a: 1 });
    const append = service.appendEvent({ session, event, signal });
    await begun.opened;
    controller.abort();
    open();
    assert.equal(await append, event);
    assert.deepEqual(texts(await stored(service)), ['one']);
    assert.deepEqual(session.state, { a: 1 });
  });

  it('does not hide the error of an append whose commit has begun', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const controller = new AbortController();
    storage.append = async () => {
      controller.abort();
      await Promise.resolve();
      throw new Error('disk');
    };
    const { signal } = controller;
    await failure(service.appendEvent({ session, event: says('x'), signal }), 'storage_failed');
  });

  it('reaches every verb of a call, and ends the call between two verbs', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const event = says('one', { a: 1 });
    await service.appendEvent({ session, event });
    const behind = await stored(service);
    await service.appendEvent({ session, event: { ...says('two', { a: 2 }), id: event.id } });
    await service.appendEvent({ session, event: says('last') });
    const copy = structuredClone(await stored(service));
    const calls: [verbs: string[], call: (signal: AbortSignal) => Promise<unknown>][] = [
      [
        ['read', 'create'],
        (signal) => service.getOrCreateSession({ ...USER, sessionId: 'another', signal }),
      ],
      // A handle that the service did not give out is looked for first.
      [
        ['append', 'append'],
        (signal) => service.appendEvent({ session: copy, event: says('three'), signal }),
      ],
      // A handle that has missed a replacement also reads the states.
      [
        ['append', 'append'],
        (signal) => service.appendEvent({ session: behind, event: says('four'), signal }),
      ],
    ];
    for (const [verbs, call] of calls) {
      const { begin, asked } = listening(storage);
      const controller = new AbortController();
      begin(() => controller.abort('left'));
      const error = await failure(call(controller.signal), 'aborted');
      assert.equal(error.cause, 'left');
      assert.deepEqual(asked, verbs.slice(0, 1));
    }
    for (const [verbs, call] of calls) {
      const { begin, asked, signals } = listening(storage);
      begin(() => undefined);
      const { signal } = new AbortController();
      await call(signal);
      assert.deepEqual(asked, verbs);
      assert.deepEqual(new Set(signals), new Set([signal]));
    }
  });

  it('has no effect on a finished append', async () => {
    const controller = new AbortController();
    const service = await openOver(new MapStorage());
    const session = await service.createSession({ ...KEY, signal: controller.signal });
    await service.appendEvent({ session, event: says('one'), signal: controller.signal });
    controller.abort();
    assert.deepEqual(texts(await stored(service)), ['one']);
  });
});

/** Records the called verbs of a storage. */
function listening(storage: MapStorage) {
  const asked: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  let onVerb = (): void => undefined;
  const note = ({ signal }: Abortable, verb: string): void => {
    asked.push(verb);
    signals.push(signal);
    onVerb();
  };
  const inner = new MapStorage(storage);
  storage.create = (request, decide) => {
    note(request, 'create');
    return inner.create(request, decide);
  };
  storage.append = (request, decide) => {
    note(request, 'append');
    return inner.append(request, decide);
  };
  storage.read = (request) => {
    note(request, 'read');
    return inner.read(request);
  };
  return { asked, signals, begin: (listener: () => void) => (onVerb = listener) };
}
