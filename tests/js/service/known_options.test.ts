// Options that a service does not know: a misspelt one must not be passed over.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/database/index.js';
import * as adk from '../../../js/adk/index.js';
import {
  exportSession,
  importSession,
  sessionFromFile,
  sessionToFile,
} from '../../../js/files/index.js';
import {
  IndexedDbSessionService,
  InMemorySessionService,
  Invocation,
  isSessionError,
  openSessionService,
} from '../../../js/index.js';
import { getSessionServiceFromUri } from '../../../js/uri/index.js';
import { VertexAiSessionService } from '../../../js/vertex/index.js';
import { mapAdapter } from '../../../js/examples/map_adapter.js';

const misspelt = { durabilty: 'strict' } as object;

const key = { appName: 'app', userId: 'user', sessionId: 'session' };
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
};

describe('A misspelt option', () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`is refused by ${name}, which lists the known ones`, async () => {
      await assert.rejects(
        async () => await make(),
        (error) => {
          assert.ok(isSessionError(error, 'invalid_argument'), String(error));
          assert.equal(error.key, 'durabilty');
          return error.message.includes('is not an option here; the options are ');
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

describe('An option of another storage', () => {
  it('is ignored if the storage is chosen at run time', async () => {
    const service = await openSessionService({ storage: 'auto', name: 'shop', timeoutMs: 1000 });
    assert.equal(service.storage.kind, 'memory');
    const named = getSessionServiceFromUri('memory://', { durability: 'strict', timeoutMs: 1000 });
    assert.equal(named.storage.kind, 'memory');
  });
});
