import assert from 'node:assert/strict';
import { it } from 'node:test';

import { State } from '../../../js/index.js';
import { APP, begin, failure, KEY, overStorages, says, stored, USER } from './fixture.js';

const OTHER_USER = { ...APP, userId: 'other' };

overStorages('updateState', (open) => {
  it('with a session stores an event of the user', async () => {
    const { service } = await begin(open, { a: 1 }, { clock: () => 5000.25, newId: () => 'new' });
    const stateDelta = { a: undefined, b: 2, 'user:c': 3, 'app:d': 4, 'temp:t': (): number => 1 };
    await service.updateState({ ...KEY, stateDelta });
    const read = await stored(service);
    const expected = { b: 2, 'user:c': 3, 'app:d': 4 };
    assert.deepEqual(read.state, expected);
    assert.equal(read.events.length, 1);
    const [event] = read.events;
    assert.equal(event?.author, 'user');
    assert.equal(event.id, 'new');
    assert.equal(event.invocationId, 'p-new');
    assert.equal(Object.hasOwn(event, 'content'), false);
    assert.deepEqual(event.actions.stateDelta, { ...expected, a: State.REMOVED });
    assert.equal(event.timestamp, 5000, 'an integer, as all times that we make');
    assert.ok('temp:t' in stateDelta);
  });

  it('with a missing session is refused', async () => {
    const { service } = await begin(open);
    const request = { ...USER, sessionId: 'nobody', stateDelta: { 'app:a': 1 } };
    await failure(service.updateState(request), 'not_found');
    assert.deepEqual(await service.getAppState(APP), {});
  });

  it('without a session changes user and app state, and stores no event', async () => {
    const { service } = await begin(open, { 'user:gone': 1, 'app:gone': 1 });
    const stateDelta = {
      'user:a': 1,
      'app:b': 2,
      'user:gone': undefined,
      'app:gone': State.REMOVED,
    };
    await service.updateState({ ...USER, stateDelta });
    const read = await stored(service);
    assert.deepEqual([read.state, read.events], [{ 'user:a': 1, 'app:b': 2 }, []]);
  });

  it('without a user changes app state', async () => {
    const { service } = await begin(open);
    await service.updateState({ ...APP, stateDelta: { 'app:a': 1 } });
    assert.deepEqual(await service.getAppState(APP), { a: 1 });
  });

  it('refuses keys of scopes that the request does not name', async () => {
    const { service } = await begin(open);
    const plain = service.updateState({ ...USER, stateDelta: { 'app:a': 1, plain: 1 } });
    assert.match((await failure(plain, 'invalid_argument')).message, /"plain"/);
    const user = service.updateState({ ...APP, stateDelta: { 'app:a': 1, 'user:b': 1 } });
    assert.match((await failure(user, 'invalid_argument')).message, /"user:b"/);
    assert.deepEqual(await service.getAppState(APP), {});
  });

  it("does not change with the caller's delta", async () => {
    const { service } = await begin(open);
    const stateDelta = { 'user:list': [1] };
    const promise = service.updateState({ ...USER, stateDelta });
    stateDelta['user:list'].push(2);
    await promise;
    await service.updateState({ ...KEY, stateDelta: { k: stateDelta['user:list'] } });
    stateDelta['user:list'].push(3);
    assert.deepEqual((await stored(service)).state, { 'user:list': [1], k: [1, 2] });
  });

  for (const [what, stateDelta] of [
    ['a Map', new Map([['a', 1]])],
    ['an array', [1]],
    ['a string', 'abc'],
    ['null', null],
    ['a number', 5],
  ] as const) {
    it(`refuses ${what} as a delta, with and without a session`, async () => {
      const { service } = await begin(open);
      for (const key of [KEY, USER, APP]) {
        const request = { ...key, stateDelta: stateDelta as never };
        await failure(service.updateState(request), 'invalid_argument');
      }
      assert.deepEqual((await stored(service)).events, []);
    });
  }
});

overStorages('User and app state', (open) => {
  it('are returned without prefixes, each scope by itself', async () => {
    const { service } = await begin(open, { 'user:a': 1, 'app:a': 2, a: 3, 'user:app:b': 4 });
    assert.deepEqual(await service.getUserState(USER), { a: 1, 'app:b': 4 });
    assert.deepEqual(await service.getAppState(APP), { a: 2 });
    assert.deepEqual(await service.getUserState(OTHER_USER), {});
    assert.deepEqual(await service.getAppState({ appName: 'elsewhere' }), {});
  });

  it('are visible in all sessions of their scope, and in no other', async () => {
    const { service, session } = await begin(open);
    await service.createSession({ ...USER, sessionId: 'second' });
    await service.createSession({ ...OTHER_USER, sessionId: 'third' });
    await service.appendEvent({ session, event: says('x', { s: 1, 'user:u': 2, 'app:a': 3 }) });
    const second = await stored(service, { ...USER, sessionId: 'second' });
    assert.deepEqual(second.state, { 'user:u': 2, 'app:a': 3 });
    const third = await stored(service, { ...OTHER_USER, sessionId: 'third' });
    assert.deepEqual(third.state, { 'app:a': 3 });
    const { sessions } = await service.listSessions(APP);
    for (const { id, state } of sessions) {
      assert.deepEqual(state, id === 'third' ? third.state : { ...second.state, ...(id === 'session' && { s: 1 }) }); // prettier-ignore
    }
  });

  it('outlive the sessions', async () => {
    const { service } = await begin(open, { 'user:a': 1, 'app:b': 2 });
    await service.deleteSession(KEY);
    assert.deepEqual(await service.getUserState(USER), { a: 1 });
    assert.deepEqual(await service.getAppState(APP), { b: 2 });
    assert.deepEqual((await service.createSession(KEY)).state, { 'user:a': 1, 'app:b': 2 });
  });

  it('are empty after their deletion, and the sessions stay', async () => {
    const { service, session } = await begin(open, { 'user:a': 1, 'app:b': 2, c: 3 });
    await service.appendEvent({ session, event: says('x') });
    await service.deleteUserState(USER);
    await service.deleteAppState(APP);
    const read = await stored(service);
    assert.deepEqual([read.state, read.events.length], [{ c: 3 }, 1]);
    await service.appendEvent({ session, event: says('y', { 'user:a': 5 }) });
    assert.deepEqual((await stored(service)).state, { c: 3, 'user:a': 5 });
  });

  it('can be deleted if they do not exist', async () => {
    const service = await open();
    await service.deleteUserState(USER);
    await service.deleteAppState(APP);
    await service.deleteUser(USER);
    await service.deleteSession(KEY);
    assert.equal((await service.listSessions(APP)).totalItems, 0);
  });

  it('of a deleted user are deleted with all sessions of that user, and of no other', async () => {
    const { service } = await begin(open, { 'user:a': 1, 'app:b': 2 });
    await service.createSession({ ...USER, sessionId: 'second' });
    await service.createSession({ ...OTHER_USER, sessionId: 'session', state: { 'user:a': 9 } });
    await service.deleteUser(USER);
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(USER), {});
    assert.deepEqual(await service.getAppState(APP), { b: 2 });
    assert.deepEqual(await service.getUserState(OTHER_USER), { a: 9 });
    const { sessions } = await service.listSessions(APP);
    assert.deepEqual(sessions.map(({ userId }) => userId), ['other']); // prettier-ignore
  });

  it('cannot be reached by another id, whatever characters it has', async () => {
    const service = await open();
    const names = ['a/b', 'a', 'b', 'a:b', 'a%2Fb', 'a\u0000b', 'a\u001db', '__proto__', 'constructor', '👍', 'A', ' a', 'a ']; // prettier-ignore
    for (const appName of names) {
      for (const userId of names.slice(0, 4)) {
        const state = { own: [appName, userId], 'user:u': [appName, userId], 'app:a': appName };
        await service.createSession({ appName, userId, sessionId: userId, state });
      }
    }
    for (const appName of names) {
      for (const userId of names.slice(0, 4)) {
        const session = await stored(service, { appName, userId, sessionId: userId });
        const expected = { own: [appName, userId], 'user:u': [appName, userId], 'app:a': appName };
        assert.deepEqual(session.state, expected);
        assert.deepEqual([session.appName, session.userId, session.id], [appName, userId, userId]);
      }
      assert.equal((await service.listSessions({ appName })).totalItems, 4);
    }
  });
});
