import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  InMemorySessionService,
  isSessionError,
  type Notice,
  type Notices,
} from '../../../../js/index.js';
import type { WatchRequest } from '../../../../js/values/model/notice.js';
import { APP, begin, KEY, overStorages, says } from '../../service/fixture.js';
import { kinds, listen, revisions, told } from './notices.js';

// How a watcher begins, is read and ends.
overStorages('A watcher', (open) => {
  it('can be iterated until the caller leaves the loop', async () => {
    const { service, session } = await begin(open);
    const notices = service.watch(KEY);
    const append = async (): Promise<void> => {
      for (let number = 0; number < 3; number += 1) {
        await service.appendEvent({ session, event: says(String(number)) });
        await told();
      }
    };
    const appending = append();
    const seen: Notice[] = [];
    for await (const notice of notices) {
      seen.push(notice);
      if (seen.length === 3) break;
    }
    await appending;
    assert.deepEqual(revisions(seen), [2, 3, 4]);
    await service.appendEvent({ session, event: says('after') });
    assert.deepEqual(await notices.next(), { done: true, value: undefined });
  });

  it('shares a signal with many others without a warning of Node', async (t) => {
    const service = await open();
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    t.after(() => process.off('warning', note));
    const controller = new AbortController();
    const watchers = Array.from({ length: 20 }, () =>
      service.watch(KEY, { signal: controller.signal }),
    );
    await new Promise((done) => setImmediate(done));
    assert.deepEqual(warnings, []);
    controller.abort();
    for (const watcher of watchers) assert.equal((await watcher.next()).done, true);
    await service.close();
  });

  it('ends with its signal, and drops what is pending', async () => {
    const { service, session } = await begin(open);
    const controller = new AbortController();
    const { signal } = controller;
    const notices = service.watch(KEY, { signal });
    const called: Notice[] = [];
    service.watch(KEY, { signal, onNotice: (notice) => called.push(notice) });
    await service.appendEvent({ session, event: says('1') });
    await told();
    await service.appendEvent({ session, event: says('2') });
    controller.abort();
    await told();
    assert.deepEqual(await notices.next(), { done: true, value: undefined });
    assert.ok(called.length <= 2);
    const count = called.length;
    await service.appendEvent({ session, event: says('3') });
    await told();
    assert.equal(called.length, count);
    const late = service.watch(KEY, { signal });
    assert.deepEqual(await late.next(), { done: true, value: undefined });
  });

  it('ends with the block of `await using`, iterated or with a callback', async () => {
    const { service, session } = await begin(open);
    const called: Notice[] = [];
    const append = () => service.appendEvent({ session, event: says('1') });
    let ended: Notices;
    {
      await using notices = service.watch(KEY);
      await using stop = service.watch(KEY, { onNotice: (notice) => called.push(notice) });
      await append();
      assert.equal((await notices.next()).value?.type, 'appended');
      assert.equal(typeof stop, 'function');
      ended = notices;
    }
    await append();
    await told();
    assert.deepEqual(await ended.next(), { done: true, value: undefined });
    assert.equal(called.length, 1);
  });

  it('gets notices of its own, whatever another watcher does with its ones', async () => {
    const { service, session } = await begin(open);
    service.watch(APP, {
      onNotice(notice) {
        if ('scopes' in notice) (notice.scopes as string[]).length = 0;
        Object.assign(notice, { type: 'changed' });
      },
    });
    const notices = service.watch(APP);
    await service.appendEvent({ session, event: says('1', { 'user:u': 1 }) });
    await told();
    const { value } = await notices.next();
    assert.equal(value?.type, 'appended');
    assert.deepEqual(value.scopes, ['user']);
  });

  it('resolves pending next() calls when it ends', async () => {
    const { service } = await begin(open);
    const controller = new AbortController();
    const notices = service.watch(KEY, { signal: controller.signal });
    const waiting = [notices.next(), notices.next()];
    controller.abort();
    const end = { done: true, value: undefined };
    assert.deepEqual(await Promise.all(waiting), [end, end]);
    const others = service.watch(KEY);
    const next = others.next();
    await others.return();
    assert.deepEqual(await next, end);
  });

  it('delivers pending notices when its service closes, and then ends', async () => {
    const { service, session } = await begin(open);
    const notices = service.watch(KEY);
    const waiting = service.watch({ appName: 'other' }).next();
    const called = listen(service, KEY);
    const appending = service.appendEvent({ session, event: says('1') });
    await service.close();
    await appending;
    assert.equal((await notices.next()).done ?? false, false);
    assert.deepEqual(await notices.next(), { done: true, value: undefined });
    assert.deepEqual(await waiting, { done: true, value: undefined });
    await told();
    assert.deepEqual(kinds(called), ['appended user session']);
    assert.throws(
      () => service.watch(KEY),
      (error) => isSessionError(error, 'closed'),
    );
  });

  it('stops calling onNotice after the returned function is called', async () => {
    const { service, session } = await begin(open);
    const called: Notice[] = [];
    const stop = service.watch(KEY, {
      onNotice: (notice) => {
        called.push(notice);
        stop();
      },
    });
    await service.appendEvent({ session, event: says('1', { 'app:a': 1 }) });
    await told();
    stop();
    assert.deepEqual(kinds(called), ['appended user session app']);
  });

  it('reports an error thrown by onNotice as uncaught, and continues', async () => {
    const { service, session } = await begin(open);
    const reported: unknown[] = [];
    // The function exists in browsers. In Node, the error would end this process.
    globalThis.reportError = (error: unknown) => void reported.push(error);
    try {
      service.watch(KEY, {
        onNotice: ({ type }) => {
          throw new Error(type);
        },
      });
      const others = listen(service, KEY);
      await service.appendEvent({ session, event: says('1') });
      await told();
      await service.appendEvent({ session, event: says('2') });
      await told();
      assert.equal(others.length, 2);
      assert.deepEqual(reported.map(String), ['Error: appended', 'Error: appended']);
    } finally {
      Reflect.deleteProperty(globalThis, 'reportError');
    }
  });

  it('allows onNotice to append', async () => {
    const { service, session } = await begin(open);
    let count = 0;
    const done = new Promise<void>((resolve) => {
      service.watch(KEY, {
        onNotice: () => {
          count += 1;
          if (count === 3) resolve();
          else void service.appendEvent({ session, event: says(String(count)) });
        },
      });
    });
    await service.appendEvent({ session, event: says('0') });
    await done;
    assert.equal(session.events.length, 3);
  });

  it('uses the request as it was at the call', async () => {
    const { service, session } = await begin(open);
    const request = { ...KEY };
    const notices = listen(service, request);
    request.sessionId = 'other';
    await service.appendEvent({ session, event: says('1') });
    await told();
    assert.equal(notices.length, 1);
  });
});

describe('A watcher', () => {
  it('refuses an invalid request', () => {
    const service = new InMemorySessionService();
    const refused = (request: unknown, options?: unknown, key?: string): void => {
      assert.throws(
        () => service.watch(request as WatchRequest, options as object),
        (error) => isSessionError(error, 'invalid_argument') && error.key === key,
      );
    };
    refused(undefined, {}, 'The request');
    refused({}, {}, 'appName');
    refused({ appName: 'app', userId: '' }, {}, 'userId');
    refused({ appName: 'app', sessionId: 's' }, {}, 'userId');
    refused({ ...KEY, sessionId: 7 }, {}, 'sessionId');
    refused(APP, { onNotice: 'log' }, 'onNotice');
  });

  it('works before the wasm is loaded', async () => {
    const service = new InMemorySessionService();
    const notices = listen(service);
    await service.createSession({ ...KEY, state: { 'user:a': 1 } });
    await told();
    assert.deepEqual(kinds(notices), ['created user session user']);
  });
});
