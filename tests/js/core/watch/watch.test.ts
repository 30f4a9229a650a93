import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService } from '../../../../js/service/adk/index.js';
import { wholeStorage } from '../../service/whole_storage.js';
import { InMemorySessionService, openSessionService } from '../../../../js/index.js';
import {
  APP,
  begin,
  failure,
  KEY,
  openOver,
  overStorages,
  says,
  stored,
  USER,
} from '../../service/fixture.js';
import { failNextAppend } from '../../service/fixture.js';
import { MapStorage } from '../../service/map_storage.js';
import { kinds, listen, revisions, told } from './notices.js';

// What a watcher is told.
overStorages('Watching', (open) => {
  it('reports created, appended, changed and deleted data', async () => {
    const service = await open();
    const notices = listen(service);
    const heard: string[] = [];
    const hear = async (): Promise<string[]> => {
      await told();
      heard.push(...kinds(notices));
      return kinds(notices.splice(0));
    };
    const session = await service.createSession({ ...KEY, state: { 'app:a': 1 } });
    assert.deepEqual(await hear(), ['created user session app']);
    await service.appendEvent({ session, event: says('Hello') });
    assert.deepEqual(await hear(), ['appended user session']);
    await service.appendEvent({ session, event: says('I', { 'user:name': 'Ada', key: 1 }) });
    assert.deepEqual(await hear(), ['appended user session user']);
    await service.appendEvents({ session, events: [says('1'), says('2', { 'app:a': 2 })] });
    assert.deepEqual(await hear(), ['appended user session app']);
    await service.appendEvent({ session, event: says('3', { 'app:a': 3, 'user:name': 'Al' }) });
    assert.deepEqual(await hear(), ['appended user session user app']);
    await service.updateState({ ...KEY, stateDelta: { mood: 'good' } });
    assert.deepEqual(await hear(), ['appended user session']);
    await service.updateState({ ...USER, stateDelta: { 'user:name': 'Bo', 'app:b': 1 } });
    assert.deepEqual(await hear(), ['stateChanged user user app']);
    await service.updateState({ ...USER, stateDelta: { 'app:b': 2 } });
    assert.deepEqual(await hear(), ['stateChanged  app']);
    await service.deleteSession(KEY);
    assert.deepEqual(await hear(), ['deleted user session']);
    await service.deleteUserState(USER);
    assert.deepEqual(await hear(), ['stateChanged user user']);
    await service.deleteAppState(APP);
    assert.deepEqual(await hear(), ['stateChanged  app']);
    await service.createSession({ ...KEY, sessionId: 'other' });
    await hear();
    await service.deleteUser(USER);
    assert.deepEqual(await hear(), ['deleted user all']);
  });

  it('reports growing revisions, even for an id that is used again', async () => {
    const { service, session } = await begin(open);
    const notices = listen(service, KEY);
    await service.appendEvent({ session, event: says('1') });
    await told();
    await service.deleteSession(KEY);
    await told();
    await service.createSession(KEY);
    await told();
    assert.deepEqual(kinds(notices), [
      'appended user session',
      'deleted user session',
      'created user session',
    ]);
    const [appended = NaN, gone = appended, created = NaN] = revisions(notices);
    assert.ok(appended <= gone && gone < created, String(revisions(notices)));
  });

  it('reports an append to watchers of other sessions if their shared states changed', async () => {
    const { service, session } = await begin(open);
    const [second, other] = [
      listen(service, { ...KEY, sessionId: 'second' }),
      listen(service, { ...APP, userId: 'other' }),
    ];
    await service.appendEvent({ session, event: says('1') });
    await told();
    await service.appendEvent({ session, event: says('2', { 'user:n': 1 }) });
    await told();
    await service.appendEvent({ session, event: says('3', { 'user:n': 2, 'app:n': 2 }) });
    await told();
    assert.deepEqual(kinds(second), ['stateChanged user user', 'stateChanged user user app']);
    assert.deepEqual(kinds(other), ['stateChanged  app']);
  });

  it('gives notices the revisions of which a handle tells whether they are news', async () => {
    const { service, session } = await begin(open);
    const other = await stored(service);
    const notices = listen(service, KEY);
    assert.equal(service.revisionOf(session), service.revisionOf(other));
    await service.appendEvent({ session: other, event: says('1') });
    await told();
    const [revision = NaN] = revisions(notices);
    assert.equal(service.revisionOf(other), revision);
    assert.ok(service.revisionOf(session)! < revision);
    await service.appendEvent({ session, event: says('2') });
    assert.ok(service.revisionOf({ ...session })! > revision);
  });

  it('has no revision of a handle that the service does not know', async () => {
    const { service, session } = await begin(open);
    const copy = structuredClone(session);
    assert.equal(service.revisionOf(copy), undefined);
    const later = await stored(service);
    await failure(
      service.appendEvent({ session: { ...copy, id: 'none' }, event: says('1') }),
      'not_found',
    );
    assert.equal(service.revisionOf(copy), undefined);
    await service.appendEvent({ session: copy, event: says('2') });
    assert.ok(service.revisionOf(copy)! > service.revisionOf(later)!);
  });

  it('reports only the requested sessions and the states that they show', async () => {
    const service = await open();
    const [one, user, app, other] = [KEY, USER, APP, { appName: 'other' }].map((request) =>
      listen(service, request),
    );
    await service.createSession({ ...KEY, state: { 'app:a': 1, 'user:b': 2 } });
    await told();
    await service.createSession({ ...KEY, sessionId: 'second' });
    await service.createSession({ ...KEY, userId: 'second', state: { 'user:b': 2 } });
    await told();
    await service.deleteUser(USER);
    await told();
    const first = ['created user session user app'];
    const last = ['deleted user all'];
    const mine = [...first, 'created user second'];
    const second = ['created second session user'];
    assert.deepEqual(kinds(one!), [...first, 'deleted user session']);
    assert.deepEqual(kinds(user!), [...mine, ...last]);
    assert.deepEqual(kinds(app!), [...mine, ...second, ...last]);
    assert.deepEqual(other, []);
  });

  it('reports nothing for a call that changes nothing', async () => {
    const { service, session } = await begin(open);
    const event = says('Hello', { 'user:name': 'Ada' });
    await service.appendEvent({ session, event });
    const notices = listen(service);
    await service.appendEvent({ session, event });
    await service.appendEvents({ session, events: [event, event] });
    await service.appendEvent({ session, event: { ...says('part'), partial: true } });
    await service.getOrCreateSession({ ...KEY, state: { 'app:a': 1 } });
    await service.updateState({ ...USER, stateDelta: {} });
    await failure(service.createSession(KEY), 'already_exists');
    await failure(
      service.appendEvent({ session: { ...session, id: 'none', state: {} }, event: says('lost') }),
      'not_found',
    );
    await told();
    assert.deepEqual(notices, []);
    await service.getOrCreateSession({ ...KEY, sessionId: 'new', state: { 'app:a': 1 } });
    await told();
    assert.deepEqual(kinds(notices), ['created user new app']);
  });

  it('reports only the newest of many changes of a session', async () => {
    const { service, session } = await begin(open);
    const notices = service.watch(APP);
    const events = Array.from({ length: 64 }, (_, number) =>
      says(String(number), { 'app:n': number }),
    );
    await Promise.all(events.map((event) => service.appendEvent({ session, event })));
    const { value: first } = await notices.next();
    assert.deepEqual(kinds([first!]), ['appended user session app']);
    assert.deepEqual(revisions([first!]), [65]);
    const next = notices.next();
    await notices.return();
    assert.deepEqual(await next, { done: true, value: undefined });
  });

  it('reports changes from the moment that watch returns', async () => {
    const { service, session } = await begin(open);
    const underWay = service.appendEvent({ session, event: says('early', { 'app:a': 1 }) });
    const notices = listen(service);
    await underWay;
    await told();
    // Over memory it was done before; over anything else it may have been, or not.
    assert.ok(notices.length === 0 || notices.length === 1);
    await service.appendEvent({ session, event: says('late', { 'app:a': 2 }) });
    await told();
    assert.deepEqual(kinds(notices).slice(-1), ['appended user session app']);
  });
});

describe('Watching', () => {
  it('reports synchronous calls', async () => {
    const service = new InMemorySessionService();
    const notices = listen(service);
    service.createSessionSync(KEY);
    await told();
    service.deleteSessionSync(KEY);
    await told();
    assert.deepEqual(kinds(notices), ['created user session', 'deleted user session']);
    assert.deepEqual(revisions(notices), [1, 1]);
  });

  it('reports nothing of another service in memory', async () => {
    const notices = listen(new InMemorySessionService());
    await new InMemorySessionService().createSession(KEY);
    await told();
    assert.deepEqual(notices, []);
  });

  it('reports the changes of other services over the same storage, and outlives them', async () => {
    const storage = wholeStorage();
    const [one, other] = [
      await openSessionService({ storage }),
      await openSessionService({ storage }),
    ];
    const notices = listen(one);
    const session = await other.createSession({ ...KEY, state: { 'app:a': 1 } });
    await other.appendEvent({ session, event: says('1', { 'app:a': 2 }) });
    await told();
    assert.deepEqual(kinds(notices), ['created user session app', 'appended user session app'].slice(0, notices.length)); // prettier-ignore
    await other.close();
    notices.length = 0;
    await one.deleteSession(KEY);
    await told();
    assert.deepEqual(kinds(notices), ['deleted user session']);
    assert.deepEqual(revisions(notices), [2]);
  });

  it('reports nothing for an append that failed', async () => {
    const storage = new MapStorage();
    const { service, session } = await begin((options) => openOver(storage, options));
    const notices = listen(service);
    failNextAppend(storage, 'before', new Error('full'));
    await failure(service.appendEvent({ session, event: says('1') }), 'storage_failed');
    await told();
    assert.deepEqual(notices, []);
  });

  it('orders a deletion by the floor that the storage returns', async () => {
    const storage = new MapStorage();
    const { service } = await begin((options) => openOver(storage, options));
    const notices = listen(service);
    const remove = storage.delete.bind(storage);
    // Another client creates the session again before the deletion has returned.
    Object.assign(storage, {
      delete: async (request: Parameters<typeof remove>[0]) => {
        await remove(request);
        const { floor } = storage;
        await service.createSession(KEY);
        return { floor };
      },
    });
    await service.deleteSession(KEY);
    await told();
    assert.deepEqual(kinds(notices), ['created user session']);
    assert.deepEqual(revisions(notices), [2]);
    Object.assign(storage, { delete: () => ({ floor: 'none' }) });
    await failure(service.deleteSession(KEY), 'storage_failed');
  });

  it("ignores any other result of a storage's deletion", async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    const notices = listen(service);
    Object.assign(storage, { delete: () => 3 });
    await service.deleteSession(KEY);
    await told();
    assert.deepEqual(notices, [{ type: 'deleted', ...KEY }]);
  });

  it('works for services of the framework', async () => {
    const service = new FrameworkService();
    const notices = service.watch(APP);
    let count = 0;
    const stop = service.watch(APP, { onNotice: () => void (count += 1) });
    await service.createSession(KEY);
    assert.equal((await notices.next()).value?.type, 'created');
    assert.equal(count, 1);
    stop();
    await service.close();
    assert.deepEqual(await notices.next(), { done: true, value: undefined });
  });
});
