import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import {
  begin,
  everyCall,
  failure,
  KEY,
  openOver,
  overStorages,
  says,
  texts,
  USER,
} from '../../service/fixture.js';
import { gate, MapStorage } from '../../service/map_storage.js';

overStorages('A service that was closed', (open) => {
  it('makes every later call fail', async () => {
    const { service, session } = await begin(open);
    await service.close();
    const event = says('x');
    for (const call of [
      ...everyCall(service, session, event),
      () => service.appendEvent({ session, event: createEvent({ partial: true }) }),
    ]) {
      await failure(call(), 'closed');
    }
    assert.deepEqual(session.events, []);
  });

  it('can be repeated', async () => {
    const service = await open();
    await Promise.all([service.close(), service.close()]);
    await service.close();
    await service[Symbol.asyncDispose]();
  });

  it('works for an unused service', async () => {
    await (await open()).close();
  });

  it('waits for pending calls', async () => {
    const { service, session } = await begin(open);
    const appends = ['one', 'two', 'three'].map((name) =>
      service.appendEvent({ session, event: says(name) }),
    );
    const read = service.getSession(KEY);
    const closing = service.close();
    await failure(service.appendEvent({ session, event: says('late') }), 'closed');
    await Promise.all(appends);
    await closing;
    assert.deepEqual(texts(session), ['one', 'two', 'three']);
    assert.equal((await read)?.id, 'session');
  });

  it('is called at the end of an `await using` block', async () => {
    const service = await open();
    await service.createSession(KEY);
    {
      // Like `await using`, which this TypeScript target would have to compile.
      const dispose = service[Symbol.asyncDispose].bind(service);
      await dispose();
    }
    await failure(service.getSession(KEY), 'closed');
  });
});

describe("The close of a storage of one's own", () => {
  it('happens when the last service over it closes', async () => {
    const storage = new MapStorage();
    let closed = 0;
    const counting = Object.assign(storage, { close: () => void (closed += 1) });
    const first = await openOver(counting);
    const second = await openOver(counting);
    await first.close();
    assert.equal(closed, 0);
    await second.createSession(KEY);
    await Promise.all([second.close(), second.close(), first.close()]);
    assert.equal(closed, 1);
  });

  it('happens although a service over it was refused for its options', async () => {
    const storage = new MapStorage();
    let closed = 0;
    const counting = Object.assign(storage, { close: () => void (closed += 1) });
    await failure(openOver(counting, { stale: 'never' as never }), 'invalid_argument');
    const service = await openOver(counting);
    await service.createSession(KEY);
    await service.close();
    assert.equal(closed, 1);
  });

  it('is called once, after all calls have settled', async () => {
    const calls: string[] = [];
    const storage = new MapStorage();
    storage.close = () => {
      calls.push('close');
    };
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const { opened, open } = gate();
    storage.pause = () => opened;
    const append = service
      .appendEvent({ session, event: says('one') })
      .then(() => calls.push('append'));
    const queued = service
      .appendEvent({ session, event: says('two') })
      .then(() => calls.push('append'));
    const closing = Promise.all([service.close(), service.close()]);
    await new Promise(setImmediate);
    assert.deepEqual(calls, []);
    open();
    await Promise.all([append, queued, closing]);
    await service.close();
    assert.deepEqual(calls, ['append', 'append', 'close']);
  });

  it('is waited for', async () => {
    const storage = new MapStorage();
    let isClosed = false;
    storage.close = async () => {
      await new Promise((done) => setTimeout(done, 5));
      isClosed = true;
    };
    const service = await openOver(storage);
    await service.close();
    assert.equal(isClosed, true);
  });

  it('rejects with `storage_failed` if it fails, and the service is closed', async () => {
    const storage = new MapStorage();
    const cause = new Error('busy');
    storage.close = () => Promise.reject(cause);
    const service = await openOver(storage);
    const error = await failure(service.close(), 'storage_failed');
    assert.equal(error.cause, cause);
    await failure(service.getSession(KEY), 'closed');
    await service.close();
  });

  it('with `timeoutMs` happens under calls that do not settle in time', async () => {
    const storage = new MapStorage();
    let isClosed = false;
    storage.close = () => {
      isClosed = true;
      return new Promise(() => undefined);
    };
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    const { opened, open } = gate();
    storage.pause = () => opened;
    const append = service.appendEvent({ session, event: says('one') });
    const start = performance.now();
    await service.close({ timeoutMs: 20 });
    const milliseconds = performance.now() - start;
    assert.ok(milliseconds >= 15, String(milliseconds));
    assert.equal(isClosed, true);
    await failure(service.getSession(KEY), 'closed');
    open();
    await append;
  });

  it('with `timeoutMs` ends the calls that have more to do in the storage', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    await service.createSession({ ...USER, sessionId: 'another' });
    const { opened, open } = gate();
    storage.pause = () => opened;
    const append = service.appendEvent({ session, event: says('one') });
    const deletion = service.deleteSessions({ ...USER });
    // In the next microtask the first append is under way, and this one has to wait for it.
    await Promise.resolve();
    const waiting = service.appendEvent({ session, event: says('two') });
    await service.close({ timeoutMs: 0 });
    open();
    await append;
    await failure(waiting, 'closed');
    await failure(deletion, 'closed');
    assert.equal(storage.sessions.size, 2);
  });

  it('without `timeoutMs` happens after 30 seconds, and the error names the pending calls', async ({
    mock,
  }) => {
    const storage = new MapStorage();
    storage.pause = () => undefined;
    let isClosed = false;
    storage.close = () => {
      isClosed = true;
    };
    const service = await openOver(storage);
    const session = await service.createSession(KEY);
    mock.timers.enable({ apis: ['setTimeout'] });
    storage.pause = () => new Promise(() => undefined);
    void service.appendEvent({ session, event: says('one') });
    void service.getSession(KEY);
    const closing = service.close();
    mock.timers.tick(29_999);
    await new Promise((done) => setImmediate(done));
    assert.equal(isClosed, false);
    mock.timers.tick(1);
    const error = await failure(closing, 'storage_failed');
    assert.match(error.message, /within 30 s: appendEvent, getSession\./);
    assert.equal(isClosed, true);
    await failure(service.getSession(KEY), 'closed');
    await service.close();
  });

  it('that never settles fails after 30 seconds', async ({ mock }) => {
    const storage = new MapStorage();
    storage.close = () => new Promise(() => undefined);
    const service = await openOver(storage);
    await service.createSession(KEY);
    mock.timers.enable({ apis: ['setTimeout'] });
    const closing = service.close();
    await new Promise((done) => setImmediate(done));
    mock.timers.tick(30_000);
    const error = await failure(closing, 'storage_failed');
    assert.match(error.message, /within 30 s: the storage's close\./);
  });

  it('refuses a `timeoutMs` that is not a time, and leaves the service open', async () => {
    const service = await openOver(new MapStorage());
    for (const timeoutMs of [-1, NaN, Infinity, '5' as never]) {
      await failure(service.close({ timeoutMs }), 'invalid_argument');
    }
    await service.createSession(KEY);
    await service.close({ timeoutMs: 1000 });
  });

  it('is optional', async () => {
    const storage = Object.assign(new MapStorage(), { close: undefined as never });
    await (await openOver(storage)).close();
  });
});
