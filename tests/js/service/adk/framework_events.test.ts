// Events of the framework in services of this package that have no view by `asAdkService`.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type BaseSessionService, createEvent, LlmAgent, Runner } from '@google/adk';

import {
  asAdkService,
  InMemorySessionService as FrameworkInMemoryService,
} from '../../../../js/service/adk/index.js';
import { CachedSessionService } from '../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { importSession } from '../../../../js/service/files/index.js';
import {
  type Event,
  InMemorySessionService,
  isSessionError,
  openSessionService,
  type SessionService as OurService,
} from '../../../../js/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import { sessionHandler } from '../../../../js/server/index.js';
import { openRemote } from '../../stores/remote/fixture.js';
import { MapStorage } from '../map_storage.js';

const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

/** Runs one turn of an agent that needs no model. */
async function runTurn(service: unknown): Promise<void> {
  const agent = new LlmAgent({
    name: 'guide',
    beforeAgentCallback: () => ({ role: 'model', parts: [{ text: 'done' }] }),
  });
  const sessionService = service as BaseSessionService;
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
  for await (const { author } of runner.runAsync({ ...KEY, newMessage })) {
    assert.equal(author, 'guide');
  }
}

const isRefusal = (error: unknown): boolean =>
  isSessionError(error, 'unsupported') &&
  error.message.includes('asAdkService(service)') &&
  error.message.includes("'adk-session-wasm/adk'");

const SERVICES: readonly (readonly [string, () => Promise<OurService> | OurService])[] = [
  ['memory', () => new InMemorySessionService()],
  ['a storage of your own', () => openSessionService({ storage: new MapStorage() })],
  ['SQLite', () => new DatabaseSessionService('sqlite::memory:')],
  ['a server', () => openRemote().remote],
  [
    'a cache',
    () =>
      new CachedSessionService({
        owner: 'ada',
        local: 'memory',
        remote: openRemote().remote,
      }),
  ],
];

describe('A service without asAdkService', () => {
  for (const [name, open] of SERVICES) {
    it(`refuses the first event of a Runner, and names asAdkService, over ${name}`, async () => {
      await using service = await open();
      await service.createSession(KEY);
      await assert.rejects(runTurn(service), isRefusal);
      assert.deepEqual((await service.getSession(KEY))?.events, []);
    });

    it(`takes the turns of a Runner through its view, over ${name}`, async () => {
      await using service = await open();
      await service.createSession(KEY);
      await runTurn(asAdkService(service));
      const authors = (await service.getSession(KEY))?.events.map(({ author }) => author);
      assert.deepEqual(authors, ['user', 'guide']);
    });
  }

  it("refuses the framework's events in appendEvents, and changes neither events nor handle", async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const event = { ...createEvent({ author: 'user' }), id: '' };
    await assert.rejects(service.appendEvents({ session, events: [event] }), isRefusal);
    assert.deepEqual([event.id, session.events.length], ['', 0]);
  });

  it("takes a copy of the framework's event by JSON", async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const event = JSON.parse(JSON.stringify(createEvent({ author: 'user' }))) as Event;
    await service.appendEvent({ session, event });
    assert.deepEqual(session.events, [event]);
  });

  it("imports a session with the framework's events", async () => {
    const events = [createEvent({ id: 'e1', author: 'user' })];
    const { sessionId: id, ...owner } = KEY;
    const file = { ...owner, id, state: {}, events, lastUpdateTime: Date.now() };
    const session = await importSession(new InMemorySessionService(), file, {
      timeUnit: 'milliseconds',
    });
    assert.deepEqual(session.events.map(({ id }) => id), ['e1']); // prettier-ignore
  });
});

describe("A service of './adk'", () => {
  it('takes the turns of a Runner while its session is served and shown live', async () => {
    const service = new FrameworkInMemoryService();
    await service.createSession(KEY);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    const handler = sessionHandler(service, { authorize: () => true });
    await runTurn(service);
    await store.send({ id: 'e3', author: 'user' });
    const response = await handler(new Request('http://localhost/apps/shop/users/ada/sessions/s1'));
    const served = (await response.json()) as { events: unknown[] };
    assert.deepEqual([store.getSnapshot().events.length, served.events.length], [3, 3]);
    stop();
  });

  it('appends through a handle that the service below has read', async () => {
    const ours = new InMemorySessionService();
    const session = await ours.createSession(KEY);
    const event = createEvent({ id: 'e1', author: 'user' });
    await asAdkService(ours).appendEvent({ session, event });
    assert.deepEqual(session.events, [event]);
  });
});
