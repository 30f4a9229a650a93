// Wrong arguments are refused alike by every service, and name what is wrong.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as adk from '../../../../js/service/adk/index.js';
import { CachedSessionService } from '../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { wholeStorage } from '../whole_storage.js';
import {
  createEvent,
  InMemorySessionService,
  isSessionError,
  openSessionService,
  type Session,
  type SessionErrorCode,
  type SessionService,
} from '../../../../js/index.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { KEY, says, show, USER } from '../fixture.js';

/** The services of `adk-session-wasm/adk` lack some methods. Their tests are left out. */
type Service = Pick<SessionService, 'createSession' | 'getSession' | 'close'> &
  Partial<SessionService>;

const SERVICES: Record<string, () => Service | Promise<Service>> = {
  memory: () => new InMemorySessionService(),
  'a storage': () => openSessionService({ storage: wholeStorage() }),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
  'a remote service': () => openRemote().remote,
  'a cache': () =>
    new CachedSessionService({
      owner: 'ada',
      remote: openRemote().remote,
      local: 'memory',
    }),
  "the framework's service in memory": () => framework(new adk.InMemorySessionService()),
  "a framework's view of SQLite": () =>
    framework(adk.asAdkService(new DatabaseSessionService('sqlite::memory:'))),
};

/** The types of its sessions are the framework's. */
function framework(service: adk.FrameworkSessionService): Service {
  return service;
}

type Call = (service: SessionService, session: Session) => unknown;

/** What is wrong, the methods that it is given to, and the name in the error. */
type Row = [what: string, calls: Record<string, Call>, key: string];

/** One call of each method that takes a request with these members. */
function everyRequest(given: object): Record<string, Call> {
  const request = { ...KEY, ...given };
  const stateDelta = { 'app:a': 1 };
  return {
    createSession: (service) => service.createSession({ ...request, sessionId: 'other' }),
    getOrCreateSession: (service) => service.getOrCreateSession(request),
    getSession: (service) => service.getSession(request),
    deleteSession: (service) => service.deleteSession(request),
    listSessions: (service) => service.listSessions(request),
    getUserState: (service) => service.getUserState(request),
    getAppState: (service) => service.getAppState(request),
    deleteUser: (service) => service.deleteUser(request),
    deleteUserState: (service) => service.deleteUserState(request),
    deleteAppState: (service) => service.deleteAppState(request),
    sessions: (service) => service.sessions(request).next(),
    ...requestsOfSession(request, stateDelta),
  };
}

/** One call of each method for a session that must be there. */
function requestsOfSession(given: object, stateDelta = {}): Record<string, Call> {
  const request = { ...KEY, ...given };
  return {
    updateState: (service) => service.updateState({ ...request, stateDelta }),
    updateSession: (service) => service.updateSession(request, { title: 'tea' }),
    sessionInfo: (service) => service.sessionInfo(request),
    listEvents: (service) => service.listEvents(request),
    listChanges: (service) => service.listChanges({ ...request, since: 0 }),
    events: (service) => service.events(request).next(),
  };
}

function throughSession(session: never): Record<string, Call> {
  return {
    appendEvent: (service) => service.appendEvent({ session, event: says('x') }),
    appendEvents: (service) => service.appendEvents({ session, events: [] }),
    loadOlder: (service) => service.loadOlder(session),
  };
}

function* wrongSignals(): Generator<Row> {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const values = ['x', 5, 5n, null, true, {}, [], { aborted: false }, new AbortController()];
  const named = values.map((value) => [show(value), value] as const);
  for (const [name, value] of [...named, ['a revoked proxy', revoked.proxy] as const]) {
    const signal = value as never;
    const event = createEvent();
    const calls: Record<string, Call> = {
      ...everyRequest({ signal }),
      appendEvent: (service, session) => service.appendEvent({ session, event, signal }),
      appendEvents: (service, session) =>
        service.appendEvents({ session, events: [event], signal }),
      loadOlder: (service, session) => service.loadOlder(session, 1, { signal }),
      deleteSessions: (service) => service.deleteSessions({ ...USER, olderThan: 0 }, { signal }),
      watch: (service) => service.watch(KEY, { signal }),
      ping: (service) => service.ping({ signal }),
    };
    yield [`the signal ${name}`, calls, 'signal'];
  }
}

function* wrongSessions(): Generator<Row> {
  for (const session of ['text', 5, 5n, null, undefined, [], {}, () => 1]) {
    const revisionOf: Call = (service) => service.revisionOf(session as never);
    const calls = { ...throughSession(session as never), revisionOf };
    yield [`the session ${show(session)}`, calls, 'session'];
  }
  const ids = { id: 'session', appName: 'app', userId: 'user' };
  for (const name of ['id', 'appName', 'userId']) {
    for (const value of [5, 5n, undefined, '']) {
      const session = { ...ids, state: {}, events: [], lastUpdateTime: 0, [name]: value };
      yield [
        `the ${name} ${show(value)} of a session`,
        throughSession(session as never),
        `session.${name}`,
      ];
    }
  }
}

function* wrongIds(): Generator<Row> {
  for (const sessionId of [5, 5n, true, {}, [], Symbol('s1'), null, '', 'a\ud800']) {
    const calls = requestsOfSession({ sessionId });
    yield [`the sessionId ${show(sessionId)}`, calls, 'sessionId'];
  }
  const request = { ...USER, id: 'session' } as never;
  const calls: Record<string, Call> = {
    getSession: (service) => service.getSession(request),
    deleteSession: (service) => service.deleteSession(request),
    updateSession: (service) => service.updateSession(request, { title: 'tea' }),
    sessionInfo: (service) => service.sessionInfo(request),
    listEvents: (service) => service.listEvents(request),
  };
  yield ['an id in place of the sessionId', calls, 'sessionId'];
}

function* wrongOptions(): Generator<Row> {
  const skipping = (skipCorrupt: never): Record<string, Call> => ({
    listEvents: (service) => service.listEvents({ ...KEY, skipCorrupt }),
    events: (service) => service.events({ ...KEY, skipCorrupt }).next(),
    sessionInfo: (service) => service.sessionInfo({ ...KEY, skipCorrupt }),
  });
  for (const value of ['yes', 1, {}] as never[]) {
    yield [`skipCorrupt ${show(value)}`, skipping(value), 'skipCorrupt'];
    const getSession: Call = (service) =>
      service.getSession({ ...KEY, config: { skipCorrupt: value } });
    yield [`config.skipCorrupt ${show(value)}`, { getSession }, 'config.skipCorrupt'];
    const listSessions: Call = (service) => service.listSessions({ ...USER, withTotal: value });
    yield [`withTotal ${show(value)}`, { listSessions }, 'withTotal'];
  }
  for (const value of ['5', 5n, {}] as never[]) {
    const calls: Record<string, Call> = {
      listEvents: (service) => service.listEvents({ ...KEY, limit: value }),
      listSessions: (service) => service.listSessions({ ...USER, limit: value }),
      loadOlder: (service, session) => service.loadOlder(session, value),
    };
    yield [`the limit ${show(value)}`, calls, 'limit'];
  }
  for (const value of ['a', [5], ['a\ud800'], {}] as never[]) {
    const listSessions: Call = (service) => service.listSessions({ ...USER, stateKeys: value });
    yield [`the stateKeys ${show(value)}`, { listSessions }, 'stateKeys'];
  }
  for (const value of [null, 5, 'x', []] as never[]) {
    const calls: Record<string, Call> = {
      loadOlder: (service, session) => service.loadOlder(session, 1, value),
      deleteSessions: (service) => service.deleteSessions({ ...USER, olderThan: 0 }, value),
      updateSession: (service) => service.updateSession(KEY, value),
      watch: (service) => service.watch(KEY, value),
      close: (service) => service.close(value),
    };
    yield [`the options ${show(value)}`, calls, 'The options'];
  }
  const updateState: Call = (service) => service.updateState(KEY as never);
  yield ['no stateDelta', { updateState }, 'stateDelta'];
}

const ROWS = [...wrongSignals(), ...wrongSessions(), ...wrongIds(), ...wrongOptions()];

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`Over ${name}`, () => {
    for (const [what, calls, key] of ROWS) {
      it(`${what} is refused by ${Object.keys(calls).join(', ')}`, async () => {
        for (const [method, call] of Object.entries(calls)) {
          const service = (await open()) as SessionService;
          if (!(method in service)) continue;
          const session = await service.createSession({ ...KEY, state: { a: 1 } });
          const code = await codeOf(async () => call(service, session), key);
          assert.equal(code, 'invalid_argument', method);
          assert.deepEqual(await service.getSession(KEY), session, method);
          assert.equal((await service.listSessions(USER)).totalItems, 1, method);
          await service.close();
        }
      });
    }

    it('a config of null counts as absent', async () => {
      const service = await open();
      const session = await service.createSession(KEY);
      assert.deepEqual(await service.getSession({ ...KEY, config: null as never }), session);
      await service.close();
    });
  });
}

/** Returns the code that a call fails with. The error must have the key. */
async function codeOf(call: () => Promise<unknown>, key: string): Promise<SessionErrorCode | 'ok'> {
  try {
    await call();
    return 'ok';
  } catch (error) {
    assert.ok(isSessionError(error), String(error));
    assert.ok(error.key === key || error.key?.startsWith(`${key}.`), error.message);
    return error.code;
  }
}
