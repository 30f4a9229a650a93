// A request belongs to its caller, who may use the object again for the next call.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { APP, KEY, overStorages, says, USER } from './fixture.js';

overStorages('A request that is changed after the call', (open) => {
  it('has no effect on the call', async () => {
    const service = await open();
    await service.createSession({ ...KEY, state: { a: 1 } });
    await service.createSession({ ...USER, sessionId: 'other', state: { a: 2 } });
    const request = {
      ...KEY,
      config: { numRecentEvents: 0 },
      limit: 1,
      stateDelta: { a: 3 } as Record<string, unknown>,
    };
    const calls = [
      service.updateState(request),
      service.getSession(request),
      service.listSessions(request),
    ] as const;
    request.sessionId = 'other';
    request.userId = 'nobody';
    request.config.numRecentEvents = -1;
    request.limit = -1;
    request.stateDelta = { a: 4 };
    const [, session, list] = await Promise.all(calls);
    assert.deepEqual([session?.id, session?.events], [KEY.sessionId, []]);
    assert.equal(list.sessions.length, 1);
    const states = (await service.listSessions(APP)).sessions.map(({ id, state }) => [id, state.a]);
    assert.deepEqual(states.sort(), [
      ['other', 2],
      [KEY.sessionId, 3],
    ]);
  });

  it('leaves the session that deleteSession was called for', async () => {
    const service = await open();
    for (const sessionId of ['one', 'two']) await service.createSession({ ...USER, sessionId });
    const request = { ...USER, sessionId: 'one' };
    const deleted = service.deleteSession(request);
    request.sessionId = 'two';
    await deleted;
    assert.deepEqual(
      (await service.listSessions(USER)).sessions.map(({ id }) => id),
      ['two'],
    );
  });

  it('has no effect on a walk, which reads nothing before its first step', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('hello') });
    await service.createSession({ ...USER, sessionId: 'empty' });
    const request: { userId: string; sessionId: string; appName: string } = { ...KEY };
    const events = service.events(request);
    const sessions = service.sessions(request);
    Object.assign(request, { sessionId: 'empty', userId: 'nobody' });
    assert.equal((await events.next()).value?.content?.parts?.[0]?.text, 'hello');
    assert.equal((await sessions.next()).value?.userId, KEY.userId);
    await Promise.all([events.return(), sessions.return()]);
  });
});
