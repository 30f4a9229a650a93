import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  InMemorySessionService,
  isSessionError,
  type SessionErrorCode,
} from '../../../js/index.js';
import { KEY, says, stored, texts, USER } from './fixture.js';

const hasCode =
  (code: SessionErrorCode) =>
  (error: unknown): boolean =>
    isSessionError(error, code);

describe('The synchronous methods', () => {
  it('need no earlier call', () => {
    const service = new InMemorySessionService();
    const session = service.createSessionSync({ ...KEY, state: { a: 1 } });
    assert.deepEqual({ ...session, lastUpdateTime: 0 }, { appName: 'app', userId: 'user', id: 'session', state: { a: 1 }, events: [], lastUpdateTime: 0 }); // prettier-ignore
  });

  it('return the same data as the asynchronous ones', async () => {
    const service = new InMemorySessionService();
    const session = service.createSessionSync({ ...KEY, state: { 'user:a': 1 } });
    await service.appendEvent({ session, event: says('one') });
    await service.appendEvent({ session, event: says('two') });
    assert.deepEqual(service.getSessionSync(KEY), await stored(service));
    const config = { numRecentEvents: 1 };
    assert.deepEqual(texts(service.getSessionSync({ ...KEY, config })!), ['two']);
    assert.equal(service.getSessionSync({ ...USER, sessionId: 'nobody' }), undefined);
    const request = { ...USER, limit: 1, page: 1, order: 'desc' as const };
    assert.deepEqual(service.listSessionsSync(request), await service.listSessions(request));
    assert.equal(service.deleteSessionSync(KEY), undefined);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('return handles that can be appended to', async () => {
    const service = new InMemorySessionService({ stale: 'reject' });
    const session = service.createSessionSync(KEY);
    await service.appendEvent({ session, event: says('one') });
    const again = service.getSessionSync(KEY);
    await service.appendEvent({ session: again!, event: says('two') });
    assert.deepEqual(texts(service.getSessionSync(KEY)!), ['one', 'two']);
  });

  it('see an append right after its call', () => {
    const service = new InMemorySessionService();
    const session = service.createSessionSync(KEY);
    void service.appendEvent({ session, event: says('one', { a: 1 }) });
    assert.deepEqual(session.state, { a: 1 });
    assert.deepEqual(service.getSessionSync(KEY)?.state, { a: 1 });
  });

  it('throw the errors of the asynchronous ones', () => {
    const service = new InMemorySessionService();
    service.createSessionSync(KEY);
    assert.throws(() => service.createSessionSync(KEY), hasCode('already_exists'));
    const wrong = { ...KEY, appName: '' };
    assert.throws(() => service.createSessionSync(wrong), hasCode('invalid_argument'));
    assert.throws(() => service.getSessionSync(wrong), hasCode('invalid_argument'));
    assert.throws(() => service.listSessionsSync(wrong), hasCode('invalid_argument'));
    assert.throws(() => service.deleteSessionSync(wrong), hasCode('invalid_argument'));
    const state = { bad: 1n };
    assert.throws(() => service.createSessionSync({ ...USER, state }), hasCode('unserializable'));
  });

  for (const request of [undefined, null, 'request', 5]) {
    it(`refuse ${String(request)} as a request`, () => {
      const service = new InMemorySessionService();
      const given = request as never;
      assert.throws(() => service.createSessionSync(given), hasCode('invalid_argument'));
      assert.throws(() => service.getSessionSync(given), hasCode('invalid_argument'));
      assert.throws(() => service.listSessionsSync(given), hasCode('invalid_argument'));
      assert.throws(() => service.deleteSessionSync(given), hasCode('invalid_argument'));
    });
  }

  it('throw `aborted` for a signal that has fired', () => {
    const service = new InMemorySessionService();
    const request = { ...KEY, signal: AbortSignal.abort() };
    assert.throws(() => service.createSessionSync(request), hasCode('aborted'));
    assert.equal(service.getSessionSync(KEY), undefined);
  });

  it('throw `closed` after the end', async () => {
    const service = new InMemorySessionService();
    await service.close();
    assert.throws(() => service.createSessionSync(KEY), hasCode('closed'));
    assert.throws(() => service.getSessionSync(KEY), hasCode('closed'));
    assert.throws(() => service.listSessionsSync(KEY), hasCode('closed'));
    assert.throws(() => service.deleteSessionSync(KEY), hasCode('closed'));
  });
});
