// An append that skips reading the rows of the previous one must have the same result as with reading them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import {
  type DatabaseOptions,
  DatabaseSessionService,
} from '../../../../../js/service/database/index.js';
import { isSessionError, type Session } from '../../../../../js/index.js';
import { eventOf as untimed, numbers } from '../cases/concurrency.js';
import { newFolder } from '../../../../new_folder.js';

const folder = newFolder();
const services: DatabaseSessionService[] = [];
after(async () => {
  await Promise.all(services.map((service) => service.close()));
});

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };
let count = 0;

/** Each event is a millisecond later: an equal time would be stored in the side table, and read again. */
let time = Date.now();
const eventOf: typeof untimed = (id, delta) => {
  return { ...untimed(id, delta), timestamp: (time += 1) };
};

const newPath = () => join(folder, `${++count}.db`);

function open(options: DatabaseOptions, path = newPath()): DatabaseSessionService {
  const clock = () => time;
  const own = { durability: 'relaxed', clock } as const;
  const service = new DatabaseSessionService(`sqlite:${path}`, { ...own, ...options });
  services.push(service);
  return service;
}

/** A service that has just written to a session, and another connection to its file. */
async function opened() {
  const path = newPath();
  const service = open({}, path);
  const session = await service.createSession({ ...KEY, state: { a: 0 } });
  await service.appendEvent({
    session,
    event: eventOf('first', { a: 1, 'user:a': 1, 'app:a': 1 }),
  });
  const others = (statement: string) => {
    const database = new Sqlite(path);
    database.exec(statement);
    database.close();
  };
  return { service, session, others };
}

/** The stored state and events, read without any memory of earlier writes. */
async function stored(service: DatabaseSessionService, key = KEY) {
  const session = await service.getSession(key);
  return { state: session?.state, ids: session?.events.map(({ id }) => id) };
}

/** The states of sessions of one service after three appends to each, in turns. */
async function inTurns(
  keys: readonly (typeof KEY)[],
  delta: (session: number, round: number) => Record<string, unknown>,
) {
  // With `append`, a handle gets no missed events, so that the service does not read them.
  const service = open({ stale: 'append' });
  const sessions: Session[] = [];
  for (const key of keys) sessions.push(await service.createSession(key));
  for (const round of numbers(3)) {
    for (const [n, session] of sessions.entries()) {
      await service.appendEvent({ session, event: eventOf(`${round}`, delta(n, round)) });
    }
  }
  return Promise.all(keys.map(async (key) => (await stored(service, key)).state));
}

const codeOf = (error: unknown) => (isSessionError(error) ? error.code : String(error));

describe('A second append on a SQLite file', () => {
  it('includes writes of another connection since the first, even without a change of times', async () => {
    const { service, session, others } = await opened();
    others(`update sessions set state = '{"b":2}';
      update user_states set state = '{"b":2}';
      update app_states set state = '{"b":2}'`);
    const event = eventOf('second', { a: 3, 'user:a': 3, 'app:a': 3 });
    await service.appendEvent({ session, event });
    assert.deepEqual((await stored(service)).state, { 'b': 2, 'a': 3, 'user:b': 2, 'user:a': 3, 'app:b': 2, 'app:a': 3 }); // prettier-ignore
  });

  it('adds events of another connection since the first to the handle', async () => {
    const { service, session, others } = await opened();
    others(`insert into events select 'other', app_name, user_id, session_id, invocation_id,
        '2999-01-01 00:00:00.000000', replace(event_data, '"first"', '"other"') from events;
      update sessions set update_time = '2999-01-01 00:00:00.000000'`);
    await service.appendEvent({ session, event: eventOf('second') });
    assert.deepEqual(session.events.map(({ id }) => id), ['first', 'other', 'second']); // prettier-ignore
  });

  it('includes writes of other sessions to user and app state', async () => {
    const { service, session } = await opened();
    const other = await service.createSession({ ...KEY, sessionId: 'other' });
    const event = eventOf('second', { 'user:b': 2, 'app:b': 2 });
    await service.appendEvent({ session: other, event });
    await service.updateState({ appName: 'app', userId: 'user', stateDelta: { 'user:c': 3 } });
    await service.appendEvent({ session, event: eventOf('third', { 'user:d': 4, 'app:d': 4 }) });
    assert.deepEqual((await stored(service)).state, { 'a': 1, 'user:a': 1, 'user:b': 2, 'user:c': 3, 'user:d': 4, 'app:a': 1, 'app:b': 2, 'app:d': 4 }); // prettier-ignore
  });

  it('changes nothing if its event is already stored', async () => {
    const { service, session } = await opened();
    const second = eventOf('second', { a: 2 });
    await service.appendEvent({ session, event: structuredClone(second) });
    await service.appendEvent({ session, event: eventOf('third', { a: 3 }) });
    await service.appendEvent({ session, event: structuredClone(second) });
    const { state, ids } = await stored(service);
    assert.deepEqual([state?.a, ids], [3, ['first', 'second', 'third']]);
  });

  it('succeeds through a stale handle if its event is already stored', async () => {
    const service = open({ stale: 'reject' });
    const [one, other] = [await service.createSession(KEY), (await service.getSession(KEY))!];
    const event = eventOf('first', { a: 1 });
    await service.appendEvent({ session: one, event: structuredClone(event) });
    await service.appendEvent({ session: other, event: structuredClone(event) });
    assert.deepEqual(await stored(service), { state: { a: 1 }, ids: ['first'] });
    await service.appendEvent({ session: one, event: eventOf('second') });
    const behind = service.appendEvent({ session: other, event: eventOf('third') });
    assert.equal(await behind.catch(codeOf), 'stale_session');
  });

  it('replaces a stored event with the same id', async () => {
    const { service, session } = await opened();
    await service.appendEvent({ session, event: eventOf('second', { a: 2 }) });
    await service.appendEvent({ session, event: eventOf('first', { a: 3 }) });
    await service.appendEvent({ session, event: eventOf('third', { b: 4 }) });
    const { state, ids } = await stored(service);
    assert.deepEqual([state?.a, state?.b, ids], [3, 4, ['first', 'second', 'third']]);
  });

  it('fails with not_found if any connection has deleted the session', async () => {
    const { service, session, others } = await opened();
    await service.deleteSession(KEY);
    const event = eventOf('second');
    assert.equal(await service.appendEvent({ session, event }).catch(codeOf), 'not_found');
    const again = await service.createSession(KEY);
    await service.appendEvent({ session: again, event: eventOf('first') });
    others(`pragma foreign_keys = on; delete from sessions`);
    assert.equal(await service.appendEvent({ session: again, event }).catch(codeOf), 'not_found');
  });

  it('finds deleted user and app states empty', async () => {
    const { service, session } = await opened();
    await service.deleteUserState({ appName: 'app', userId: 'user' });
    await service.deleteAppState({ appName: 'app' });
    await service.appendEvent({ session, event: eventOf('second', { 'user:b': 2, 'app:b': 2 }) });
    assert.deepEqual((await stored(service)).state, { a: 1, 'user:b': 2, 'app:b': 2 });
  });

  it('includes nothing of an append that was rolled back', async () => {
    const { service, session, others } = await opened();
    others(`create trigger refusal before insert on events when new.id = 'refused'
      begin select raise(abort, 'refused'); end`);
    await service.appendEvent({ session, event: eventOf('second', { a: 2, 'app:a': 2 }) });
    const refused = eventOf('refused', { b: 3, 'user:b': 3, 'app:b': 3 });
    assert.equal(await service.appendEvent({ session, event: refused }).catch(codeOf), 'storage_failed'); // prettier-ignore
    await service.appendEvent({ session, event: eventOf('third', { c: 4, 'user:c': 4 }) });
    const { state, ids } = await stored(service);
    assert.deepEqual(state, { a: 2, c: 4, 'user:a': 1, 'user:c': 4, 'app:a': 2 });
    assert.deepEqual(ids, ['first', 'second', 'third']);
  });

  it('adds events of the first handle to a second handle', async () => {
    const { service, session } = await opened();
    const second = (await service.getSession(KEY))!;
    await service.appendEvent({ session, event: eventOf('second') });
    await service.appendEvent({ session: second, event: eventOf('third') });
    assert.deepEqual(second.events.map(({ id }) => id), ['first', 'second', 'third']); // prettier-ignore
  });

  it('distinguishes sessions with the same id', async () => {
    const others = [{ userId: 'other' }, { appName: 'other' }];
    const keys = [KEY, ...others.map((other) => ({ ...KEY, ...other }))];
    const states = await inTurns(keys, (n, round) => ({ [`k${n}`]: round }));
    assert.deepEqual(states, [{ k0: 2 }, { k1: 2 }, { k2: 2 }]);
  });

  it('distinguishes users with the same id in different apps', async () => {
    const keys = [KEY, { ...KEY, appName: 'other', sessionId: 'other' }];
    const states = await inTurns(keys, (n, round) => ({ [`user:k${n}`]: round }));
    assert.deepEqual(states, [{ 'user:k0': 2 }, { 'user:k1': 2 }]);
  });

  it('loses nothing if more sessions take turns than are remembered', async () => {
    const { service } = await opened();
    const sessions: Session[] = [];
    for (const n of numbers(150)) {
      sessions.push(await service.createSession({ ...KEY, sessionId: `s${n}` }));
    }
    for (const round of numbers(3)) {
      for (const session of sessions) {
        const event = eventOf(`${round}`, { [`k${round}`]: round });
        await service.appendEvent({ session, event });
      }
    }
    for (const n of numbers(150)) {
      const { state } = await stored(service, { ...KEY, sessionId: `s${n}` });
      assert.deepEqual([state?.k0, state?.k1, state?.k2], [0, 1, 2]);
    }
  });
});
