// Members of options and requests that a service does not know: a misspelt one must not be passed over.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import * as adk from '../../../js/adk/index.js';
import {
  exportSession,
  exportSessions,
  importSession,
  importSessions,
  sessionFromFile,
  sessionToFile,
} from '../../../js/files/index.js';
import {
  createEvent,
  IndexedDbSessionService,
  InMemorySessionService,
  Invocation,
  isSessionError,
  openSessionService,
} from '../../../js/index.js';
import { sessionHandler } from '../../../js/server/index.js';
import { getSessionServiceFromUri } from '../../../js/uri/index.js';
import { VertexAiSessionService } from '../../../js/vertex/index.js';
import { mapAdapter } from '../../../examples/map_adapter.js';

const misspelt = { durabilty: 'strict' } as object;

const user = { appName: 'app', userId: 'user' };
const key = { ...user, sessionId: 'session' };
const service = new InMemorySessionService();
const session = service.createSessionSync(key);
const invocation = new Invocation({ service, session });
const file = sessionToFile(session);

const makers: Record<string, () => unknown> = {
  InMemorySessionService: () => new InMemorySessionService(misspelt),
  IndexedDbSessionService: () => new IndexedDbSessionService(misspelt),
  'IndexedDbSessionService.deleteDatabase': () =>
    IndexedDbSessionService.deleteDatabase('none', misspelt),
  'DatabaseSessionService of a URL': () => new DatabaseSessionService('sqlite::memory:', misspelt),
  'DatabaseSessionService of a Kysely': () =>
    new DatabaseSessionService({ kysely: {} as never, engine: 'sqlite', ...misspelt }),
  VertexAiSessionService: () => new VertexAiSessionService(misspelt),
  'openSessionService of memory': () => openSessionService({ storage: 'memory', ...misspelt }),
  'openSessionService of IndexedDB': () => openSessionService({ storage: 'auto', ...misspelt }),
  'openSessionService of an adapter': () =>
    openSessionService({ storage: mapAdapter(), ...misspelt }),
  'getSessionServiceFromUri of memory': () => getSessionServiceFromUri('memory://', misspelt),
  'getSessionServiceFromUri of a database': () =>
    getSessionServiceFromUri('sqlite::memory:', misspelt),
  "the framework's InMemorySessionService": () => new adk.InMemorySessionService(misspelt),
  "the framework's openSessionService": () =>
    adk.openSessionService({ storage: 'auto', ...misspelt }),
  asAdkService: () => adk.asAdkService(service, misspelt),
  watch: () => service.watch(key, misspelt),
  Invocation: () => new Invocation({ service, session, ...misspelt }),
  'invocation.context': () => invocation.context({ agentName: 'a', ...misspelt }),
  'invocation.readonlyContext': () => invocation.readonlyContext({ agentName: 'a', ...misspelt }),
  'invocation.append': () => invocation.append({}, misspelt),
  sessionToFile: () => sessionToFile(session, misspelt),
  sessionFromFile: () => sessionFromFile(file, misspelt),
  exportSession: () => exportSession(service, key, misspelt),
  importSession: () => importSession(service, file, misspelt),
  importSessions: () => importSessions(service, [], misspelt).next(),
  deleteSessions: () => service.deleteSessions(user, misspelt),
  updateSession: () => service.updateSession(key, misspelt),
  close: () => service.close(misspelt),
  sessionHandler: () => sessionHandler(service, { authorize: () => true, ...misspelt }),
};

describe('A misspelt option', () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`is refused by ${name}, which lists the known ones`, async () => {
      await assert.rejects(
        async () => await make(),
        (error) => {
          assert.ok(isSessionError(error, 'invalid_argument'), String(error));
          assert.equal(error.key, 'durabilty');
          return /is unknown here\. (Did you mean durability\? )?Known are /.test(error.message);
        },
      );
    });
  }

  for (const [member, call] of Object.entries({
    config: () => service.getSession({ ...key, config: misspelt }),
    'config of a synchronous call': () => service.getSessionSync({ ...key, config: misspelt }),
    'config of the framework': () =>
      new adk.InMemorySessionService().getSession({ ...key, config: misspelt }),
    history: () => new InMemorySessionService({ history: { numRecentEvents: 1, ...misspelt } }),
  })) {
    it(`in ${member} is refused by its path`, async () => {
      const [owner] = member.split(' ');
      await assert.rejects(
        async () => call(),
        (error) => isSessionError(error, 'invalid_argument') && error.key === `${owner}.durabilty`,
      );
    });
  }

  it('is ignored if it is undefined', () => {
    new InMemorySessionService({ durabilty: undefined } as object);
  });
});

/** Calls of methods with a misspelt member, by the name of the nearest known one. */
const requests: Record<string, (service: InMemorySessionService, request: object) => unknown> = {
  createSession: (service, request) => service.createSession({ ...key, ...request }),
  createSessionSync: (service, request) => service.createSessionSync({ ...key, ...request }),
  getOrCreateSession: (service, request) => service.getOrCreateSession({ ...key, ...request }),
  getSession: (service, request) => service.getSession({ ...key, ...request }),
  getSessionSync: (service, request) => service.getSessionSync({ ...key, ...request }),
  listSessions: (service, request) => service.listSessions({ ...user, ...request }),
  listSessionsSync: (service, request) => service.listSessionsSync({ ...user, ...request }),
  sessions: (service, request) => service.sessions({ ...user, ...request }).next(),
  listEvents: (service, request) => service.listEvents({ ...key, ...request }),
  listChanges: (service, request) => service.listChanges({ ...key, since: 1, ...request }),
  events: (service, request) => service.events({ ...key, ...request }).next(),
  loadOlder: (service, request) => service.loadOlder(session, 1, request),
  deleteSession: (service, request) => service.deleteSession({ ...key, ...request }),
  deleteSessionSync: (service, request) => service.deleteSessionSync({ ...key, ...request }),
  updateSession: (service, request) => service.updateSession({ ...key, ...request }, {}),
  sessionInfo: (service, request) => service.sessionInfo({ ...key, ...request }),
  appendEvent: (service, request) =>
    service.appendEvent({ session, event: createEvent(), ...request }),
  appendEvents: (service, request) =>
    service.appendEvents({ session, events: [createEvent()], ...request }),
  updateState: (service, request) => service.updateState({ ...key, stateDelta: {}, ...request }),
  getUserState: (service, request) => service.getUserState({ ...user, ...request }),
  getAppState: (service, request) => service.getAppState({ appName: 'app', ...request }),
  deleteUser: (service, request) => service.deleteUser({ ...user, ...request }),
  deleteUserState: (service, request) => service.deleteUserState({ ...user, ...request }),
  deleteAppState: (service, request) => service.deleteAppState({ appName: 'app', ...request }),
  ping: (service, request) => service.ping(request),
  open: (service, request) => service.open(request),
};

/** Methods whose request has no signal, or which have their own test below or above. */
const OTHERS = ['close', 'deleteSessions', 'health', 'revisionOf', 'watch'];

describe('A misspelt member of a request', () => {
  it('is tested with every method', () => {
    const methods = [InMemorySessionService, Object.getPrototypeOf(InMemorySessionService)]
      .flatMap(({ prototype }: { prototype: object }) => Object.getOwnPropertyNames(prototype))
      .filter((name) => name !== 'constructor');
    assert.deepEqual([...new Set(methods)].sort(), [...Object.keys(requests), ...OTHERS].sort());
  });

  for (const [method, call] of Object.entries(requests)) {
    it(`is refused by ${method}, which names the nearest known one`, async () => {
      await assert.rejects(
        async () => await call(new InMemorySessionService(), { signla: AbortSignal.timeout(1) }),
        (error) => {
          assert.ok(isSessionError(error, 'invalid_argument'), String(error));
          assert.equal(error.key, 'signla');
          return error.message.includes(' Did you mean signal? Known are ');
        },
      );
    });
  }

  for (const [misspelt, known, method] of [
    ['userID', 'userId', 'createSession'],
    ['states', 'state', 'createSession'],
    ['statedelta', 'stateDelta', 'updateState'],
    ['events', 'event', 'appendEvent'],
  ] as const) {
    it(`${misspelt} of ${method}: ${known} is meant`, async () => {
      const pattern = new RegExp(`^${misspelt} is unknown here\\. Did you mean ${known}\\?`);
      await assert.rejects(
        async () => await requests[method]?.(service, { [misspelt]: 'x' }),
        (error) => isSessionError(error, 'invalid_argument') && pattern.test(error.message),
      );
    });
  }

  it('is reported without a guess if no known one is near', () => {
    assert.throws(() => service.getSessionSync({ ...key, temperature: 1 } as never), {
      key: 'temperature',
      message: 'temperature is unknown here. Known are appName, userId, sessionId, signal, config.',
    });
  });

  it('is refused by watch, deleteSessions and exports', async () => {
    const request = { ...key, sesionId: 's1' };
    for (const call of [
      () => service.watch(request),
      () => service.deleteSessions({ ...user, ...{ sesionId: 's1' } }),
      () => exportSession(service, request),
      () => exportSessions(service, { appName: 'app', ...{ sesionId: 's1' } }).next(),
    ]) {
      await assert.rejects(
        async () => await call(),
        (error) => isSessionError(error, 'invalid_argument') && error.key === 'sesionId',
      );
    }
  });

  it('is reported by health, which never rejects', async () => {
    const { isOk, code } = await service.health(misspelt);
    assert.deepEqual([isOk, code], [false, 'invalid_argument']);
  });

  it('is refused by a service of the framework', async () => {
    const framework = new adk.InMemorySessionService();
    await assert.rejects(
      framework.createSession({ ...key, ...{ userID: 'ada' } }),
      (error) => isSessionError(error, 'invalid_argument') && error.key === 'userID',
    );
  });

  it('changes nothing, though the rest of the request is complete', async () => {
    const request = { ...user, stateDelta: { 'user:a': 1 }, ...{ sesionId: 's1' } };
    await assert.rejects(service.updateState(request));
    assert.deepEqual(await service.getUserState(user), {});
  });
});

describe('An option of another storage', () => {
  it('is ignored if the storage is chosen at run time', async () => {
    const service = await openSessionService({ storage: 'auto', name: 'shop', timeoutMs: 1000 });
    assert.equal(service.storage.kind, 'memory');
    const named = getSessionServiceFromUri('memory://', { durability: 'strict', timeoutMs: 1000 });
    assert.equal(named.storage.kind, 'memory');
  });
});
