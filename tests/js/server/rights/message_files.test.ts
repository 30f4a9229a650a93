// Files that clients name in messages: which they may, and what the handler makes of them.

import { describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { createEvent, type Event, filesOf, InMemorySessionService } from '../../../../js/index.js';
import { sessionHandler, type SessionHandlerOptions } from '../../../../js/server/index.js';
import {
  ALL_RIGHTS,
  type Answer,
  answerOf,
  type Ask,
  KEY,
  requestTo,
  SESSION,
} from '../fixture.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../js/service/cache/index.js';

const OWN = { 'adk-session-protocol': '1.0' };
const EVENTS = `${SESSION}/events`;
const TEXT = '[Uploaded Artifact: "tea.png"]';
const FILE = { part: 1, name: 'tea.png', version: 0 };

/** Serves a session with a file of its user, for a client without rights. */
async function serveFiles(options: Partial<SessionHandlerOptions> = {}) {
  const service = new InMemorySessionService({ artifacts: true });
  const handler = sessionHandler(service, { authorize: () => true, ...options });
  const ask: Ask = async (path, asked) =>
    answerOf(await handler(requestTo(path, { ...asked, headers: OWN })));
  await service.createSession(KEY);
  await put(service, 'tea.png');
  const stored = async (id: string): Promise<Event | undefined> =>
    (await service.getEvents({ ...KEY, eventIds: [id] })).events[0]?.event;
  return { service, ask, stored };
}

async function put(service: InMemorySessionService, filename: string, key = KEY, author = 'user') {
  const data = new Blob(['picture'], { type: 'image/png' });
  await service.artifacts.put({ ...key, filename, data, author });
}

function messageJson(id: string, texts = ['Look.', TEXT], more: object = {}) {
  const parts = texts.map((text) => ({ text }));
  return { id, invocationId: 'i1', author: 'user', content: { role: 'user', parts }, ...more };
}

const shown = ({ status, body }: Answer): unknown => [status, (body as { code?: string }).code];

describe('A message over HTTP that names a file of its user', () => {
  it('gets the delta and the metadata from the handler, which tells them', async () => {
    const { ask, stored } = await serveFiles();
    const { status, body } = await ask(EVENTS, {
      body: { events: [messageJson('m1')], files: [FILE] },
    });
    equal(status, 200);
    const event = await stored('m1');
    deepEqual(event?.actions.artifactDelta, { 'tea.png': 0 });
    deepEqual(filesOf(event), [{ ...FILE, mimeType: 'image/png', size: 7 }]);
    const { texts } = body as { texts: { position: number; text: string }[] };
    const told = texts.map(({ position, text }) => [position, filesOf(JSON.parse(text) as Event)]);
    deepEqual(told, [[0, filesOf(event)]]);
  });

  it('is status 404 for a service without files', async () => {
    class WithoutFiles extends InMemorySessionService {
      override get artifacts() {
        return undefined as never;
      }
    }
    const service = new WithoutFiles();
    await service.createSession(KEY);
    const handler = sessionHandler(service, { authorize: () => true });
    const body = { events: [messageJson('m1')], files: [FILE] };
    const answer = await answerOf(await handler(requestTo(EVENTS, { body, headers: OWN })));
    deepEqual(shown(answer), [404, 'artifact_service_missing']);
  });

  it('has a file only where the text of that stands', async () => {
    const { ask, stored } = await serveFiles();
    const moved = messageJson('m1', [TEXT, 'Look.']);
    await ask(EVENTS, { body: { events: [moved], files: [FILE] } });
    deepEqual(filesOf((await stored('m1'))!)[0]?.part, 0);
    const without = messageJson('m2', ['Look.']);
    await ask(EVENTS, { body: { events: [without], files: [FILE] } });
    const { actions, customMetadata } = (await stored('m2'))!;
    deepEqual(actions.artifactDelta, {});
    equal(Object.hasOwn(customMetadata!, 'adk_session_wasm_files'), false);
  });

  it('names the files of each event of a request', async () => {
    const { ask, stored } = await serveFiles();
    const events = [messageJson('m1', ['First.']), messageJson('m2')];
    await ask(EVENTS, { body: { events, files: [{ event: 1, ...FILE }] } });
    deepEqual(filesOf((await stored('m1'))!), []);
    deepEqual(filesOf((await stored('m2'))!).length, 1);
  });

  it('is stored while others append, if its client expects no revision', async () => {
    const { service, ask, stored } = await serveFiles();
    const { artifacts } = service;
    const getVersion = artifacts.getArtifactVersion.bind(artifacts);
    artifacts.getArtifactVersion = async (request) => {
      const session = (await service.getSession(KEY))!;
      await service.appendEvent({ session, event: createEvent({ author: 'guide' }) });
      return getVersion(request);
    };
    const body = { events: [messageJson('m1')], files: [FILE] };
    equal((await ask(EVENTS, { body })).status, 200);
    equal(filesOf((await stored('m1'))!).length, 1);
  });

  it('is the same when it is sent again, also if the file is deleted by then', async () => {
    const { service, ask, stored } = await serveFiles();
    const body = { events: [messageJson('m1')], files: [FILE] };
    const first = await ask(EVENTS, { body });
    const event = await stored('m1');
    await service.artifacts.deleteArtifact({ ...KEY, filename: 'tea.png' });
    const again = await ask(EVENTS, { body });
    equal(again.status, 200);
    const [one, two] = [first, again].map(({ body }) => body as { revision: number });
    equal(one!.revision, two!.revision);
    deepEqual(await stored('m1'), event);
  });

  it('is the same when it is sent again as it was read', async () => {
    const { ask, stored } = await serveFiles();
    await ask(EVENTS, { body: { events: [messageJson('m1')], files: [FILE] } });
    const read = (await ask(`${EVENTS}/by-id`, { body: { eventIds: ['m1'] } })).body;
    const [{ event }] = (read as { events: [{ event: Event }] }).events;
    equal(filesOf(event).length, 1);
    const before = await stored('m1');
    equal((await ask(EVENTS, { body: { events: [event] } })).status, 200);
    deepEqual(await stored('m1'), before);
  });

  it('is refused if the session does not have that version', async () => {
    const { service, ask, stored } = await serveFiles();
    await put(service, 'far.png', { ...KEY, userId: 'bob' }).catch(() => undefined);
    await service.createSession({ ...KEY, sessionId: 's2' });
    await put(service, 'near.png', { ...KEY, sessionId: 's2' });
    for (const file of [
      { ...FILE, version: 1 },
      { ...FILE, name: 'far.png' },
      { ...FILE, name: 'near.png' },
    ]) {
      const answer = await ask(EVENTS, { body: { events: [messageJson('m1')], files: [file] } });
      deepEqual(shown(answer), [403, undefined]);
    }
    equal(await stored('m1'), undefined);
  });

  it('is refused for a file of an agent', async () => {
    const { service, ask, stored } = await serveFiles();
    await put(service, 'plan.png', KEY, 'guide');
    const artifact = { text: 'nobody tells' };
    await service.artifacts.saveArtifact({ ...KEY, filename: 'note.txt', artifact });
    for (const name of ['plan.png', 'note.txt']) {
      const files = [{ ...FILE, name }];
      const answer = await ask(EVENTS, { body: { events: [messageJson('m1')], files } });
      deepEqual(shown(answer), [403, undefined]);
    }
    equal(await stored('m1'), undefined);
  });

  it('may name each file of the user itself', async () => {
    const { service, ask, stored } = await serveFiles();
    await put(service, 'user:me.png', KEY, 'guide');
    const text = '[Uploaded Artifact: "user:me.png"]';
    const files = [{ ...FILE, name: 'user:me.png' }];
    await ask(EVENTS, { body: { events: [messageJson('m1', ['I.', text])], files } });
    deepEqual((await stored('m1'))?.actions.artifactDelta, { 'user:me.png': 0 });
  });

  it('gets nothing by metadata of its own', async () => {
    const { ask, stored } = await serveFiles();
    const customMetadata = { adk_session_wasm_files: [FILE], mood: 'good' };
    const forged = messageJson('m1', undefined, { customMetadata });
    const { body } = await ask(EVENTS, { body: { events: [forged] } });
    const event = await stored('m1');
    deepEqual(filesOf(event!), []);
    equal(event?.customMetadata?.mood, 'good');
    equal((body as { texts: unknown[] }).texts.length, 1);
  });

  it('is refused with a delta of its own', async () => {
    const { ask } = await serveFiles();
    const actions = { stateDelta: {}, artifactDelta: { 'tea.png': 0 } };
    const forged = messageJson('m1', undefined, { actions });
    const answer = await ask(EVENTS, { body: { events: [forged], files: [FILE] } });
    deepEqual(shown(answer), [403, undefined]);
  });

  it('may be replaced by its user, with fewer files', async () => {
    const { ask, stored } = await serveFiles();
    await ask(EVENTS, { body: { events: [messageJson('m1')], files: [FILE] } });
    const { status } = await ask(EVENTS, {
      body: { events: [messageJson('m1', ['Never mind.'])] },
    });
    equal(status, 200);
    deepEqual((await stored('m1'))?.actions.artifactDelta, {});
  });

  it('is refused if it is none of the messages that were sent, also at a far index', async () => {
    const { ask, stored } = await serveFiles();
    for (const event of [1, 4e9, Number.MAX_SAFE_INTEGER]) {
      const body = { events: [messageJson('m1')], files: [{ event, ...FILE }] };
      deepEqual(shown(await ask(EVENTS, { body })), [400, 'invalid_argument']);
    }
    equal(await stored('m1'), undefined);
  });

  it('is refused with more than 100 files', async () => {
    const { ask, stored } = await serveFiles();
    const files = Array.from({ length: 101 }, () => FILE);
    const answer = await ask(EVENTS, { body: { events: [messageJson('m1')], files } });
    deepEqual(shown(answer), [400, 'invalid_argument']);
    equal(await stored('m1'), undefined);
    const body = { events: [messageJson('m1')], files: files.slice(1) };
    equal((await ask(EVENTS, { body })).status, 200);
  });

  it('is refused by a service without files', async () => {
    const service = new InMemorySessionService();
    const handler = sessionHandler(service, { authorize: () => ALL_RIGHTS });
    await service.createSession(KEY);
    const body = { events: [messageJson('m1')], files: [FILE] };
    const answer = await answerOf(await handler(requestTo(EVENTS, { body, headers: OWN })));
    deepEqual(shown(answer), [404, 'artifact_service_missing']);
  });
});

describe('A plain message over HTTP', () => {
  it('is stored as it was sent, so nothing is told of it', async () => {
    const { ask } = await serveFiles();
    const event = createEvent({ ...messageJson('m1', ['Tea?']), customMetadata: { mood: 'good' } });
    const first = await ask(EVENTS, { body: { events: [event] } });
    const again = await ask(EVENTS, { body: { events: [event] } });
    for (const { body } of [first, again]) equal(Object.hasOwn(body as object, 'texts'), false);
  });
});

describe('A rewind over HTTP', () => {
  const REWIND = `${SESSION}/rewind`;
  const ids = (name: string) => ({ id: name, invocationId: `e-${name}` });

  async function serveMessage() {
    const served = await serveFiles();
    const { ask, service } = served;
    await put(service, 'cup.png');
    const texts = ['Look.', TEXT, '[Uploaded Artifact: "cup.png"]'];
    const files = [FILE, { part: 2, name: 'cup.png', version: 0 }];
    await ask(EVENTS, { body: { events: [messageJson('m1', texts)], files } });
    return served;
  }

  it('repeats the files of the message', async () => {
    const { ask, stored } = await serveMessage();
    const body = { place: { turn: 'm1' }, marker: ids('k1'), message: ids('m2') };
    equal((await ask(REWIND, { body })).status, 200);
    const [first, again] = [await stored('m1'), await stored('m2')];
    deepEqual(again?.actions, first?.actions);
    deepEqual(filesOf(again!), filesOf(first!));
  });

  it('gives an edited message the files that the request names, and those that it keeps', async () => {
    const { service, ask, stored } = await serveMessage();
    await put(service, 'jug.png');
    const texts = ['[Uploaded Artifact: "cup.png"]', '[Uploaded Artifact: "jug.png"]'];
    const content = { role: 'user', parts: texts.map((text) => ({ text })) };
    const files = [{ part: 1, name: 'jug.png', version: 0 }];
    const rewind = { place: { turn: 'm1' }, marker: ids('k1'), message: { ...ids('m2'), content } };
    equal((await ask(REWIND, { body: { ...rewind, files } })).status, 200);
    const event = await stored('m2');
    deepEqual(event?.actions.artifactDelta, { 'cup.png': 0, 'jug.png': 0 });
    deepEqual(
      filesOf(event).map(({ part, name, size }) => [part, name, size]),
      [
        [0, 'cup.png', 7],
        [1, 'jug.png', 7],
      ],
    );
    await service.artifacts.deleteArtifact({ ...KEY, filename: 'jug.png' });
    equal((await ask(REWIND, { body: { ...rewind, files } })).status, 200);
  });

  it('gets the type and the size from the handler, also over a cache', async () => {
    const remote = new InMemorySessionService({ artifacts: true });
    const local = new MemoryLocalStore();
    const service = new CachedSessionService({ remote, owner: 'ada', local });
    const handler = sessionHandler(service, { authorize: () => true });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: messageJson('m1', ['Look.']) });
    await service.sync();
    const data = new Blob(['picture'], { type: 'image/png' });
    await remote.artifacts.put({ ...KEY, filename: 'tea.png', data, author: 'user' });
    const content = { role: 'user', parts: [{ text: 'Look.' }, { text: TEXT }] };
    const message = { ...ids('m2'), content };
    const files = [{ ...FILE, mimeType: 'text/html', size: 1, mood: 'good' }];
    const body = { place: { turn: 'm1' }, marker: ids('k1'), message, files };
    equal((await handler(requestTo(REWIND, { body, headers: OWN }))).status, 200);
    await service.sync();
    const { events } = await remote.getEvents({ ...KEY, eventIds: ['m2'] });
    const { adk_session_wasm_files: stored } = events[0]!.event.customMetadata!;
    deepEqual(stored, [{ ...FILE, mimeType: 'image/png', size: 7 }]);
    await service.close();
  });

  it('is refused for a file that the user has not put', async () => {
    const { service, ask, stored } = await serveMessage();
    await put(service, 'plan.png', KEY, 'guide');
    const content = { role: 'user', parts: [{ text: '[Uploaded Artifact: "plan.png"]' }] };
    const files = [{ part: 0, name: 'plan.png', version: 0 }];
    const message = { ...ids('m2'), content };
    const body = { place: { turn: 'm1' }, marker: ids('k1'), message, files };
    deepEqual(shown(await ask(REWIND, { body })), [403, undefined]);
    equal(await stored('m2'), undefined);
  });
});
