// Messages with files over a handler, and through a cache. Clients have no rights beside the files of their user.

import { describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import {
  createEventActions,
  type Event,
  filesOf,
  InMemorySessionService,
} from '../../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { SessionError } from '../../../../../js/values/errors/errors.js';
import { liveSession, type RunAgent } from '../../../../../js/ui/live/index.js';
import { failsWith } from '../../../fails_with.js';
import { openCache, OUTAGES, Server, until, untilSent } from '../../../stores/cache/fixture.js';
import { idsOf, KEY } from '../stores.js';

const picture = (name = 'tea.png'): File => new File(['picture'], name, { type: 'image/png' });
const FILE = { part: 1, name: 'tea.png', version: 0, mimeType: 'image/png', size: 7 };

const run: RunAgent = async function* () {
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'Tea.' }] } };
};

/** Serves files and an agent. */
function openServer(refuses: (filename: string) => boolean = () => false) {
  const service = new InMemorySessionService({ artifacts: true });
  const server = new Server(service, { authorize: () => true, run });
  const putNames: string[] = [];
  const { artifacts } = service;
  const put = artifacts.put.bind(artifacts);
  artifacts.put = async (request) => {
    if (refuses(request.filename)) throw new SessionError('quota_exceeded', 'full');
    putNames.push(request.filename);
    return put(request);
  };
  const stored = async (): Promise<Event[]> => (await service.getSession(KEY))?.events ?? [];
  const message = async (): Promise<Event> => (await stored())[0]!;
  return { service, server, putNames, stored, message };
}

function openCached(refuses?: (filename: string) => boolean, readTimeoutMs = 3000) {
  const opened = openServer(refuses);
  const { cache } = openCache(opened.server, { readTimeoutMs });
  return { ...opened, cache, chat: liveSession(cache, KEY) };
}

const DEVICES = {
  'a remote service': () => {
    const opened = openServer();
    const chat = liveSession(opened.server.client(), KEY);
    return { ...opened, chat, isSent: () => true };
  },
  'a cache': () => {
    const opened = openCached();
    return { ...opened, isSent: () => untilSent(opened.cache) };
  },
};

for (const [device, open] of Object.entries(DEVICES)) {
  describe(`A message with files over ${device}`, () => {
    it('is stored with its delta and its metadata, and shown so', async () => {
      const { chat, stored, message, isSent } = open();
      const stop = chat.subscribe(() => undefined);
      const asked = await chat.ask('What is on it?', { files: [picture()] });
      await until(async () => isSent() && (await stored()).length === 2);
      const event = await message();
      deepEqual([event.id, event.actions.artifactDelta], [asked.id, { 'tea.png': 0 }]);
      deepEqual(filesOf(event), [FILE]);
      await chat.reload();
      const shown = chat.getSnapshot().events[0];
      deepEqual([filesOf(asked), filesOf(shown!)], [[FILE], [FILE]]);
      deepEqual(shown?.actions.artifactDelta, { 'tea.png': 0 });
      stop();
    });

    it('keeps its files when it is asked again, and when it is edited', async () => {
      const { chat, service, isSent } = open();
      const files = [picture(), picture('cup.png')];
      const { id } = await chat.ask('What is it?', { files });
      await until(
        async () => isSent() && ((await service.getSession(KEY))?.events.length ?? 0) > 1,
      );
      await chat.reload();
      const again = await chat.regenerate(id);
      await until(isSent);
      deepEqual(again.actions.artifactDelta, { 'tea.png': 0, 'cup.png': 0 });
      const parts = [{ text: '[Uploaded Artifact: "cup.png"]' }];
      await chat.reload();
      const content = { role: 'user', parts };
      const edited = await chat.edit(again.id, content, { files: [picture('jug.png')] });
      await until(isSent);
      for (const [{ id }, names] of [
        [again, ['tea.png', 'cup.png']],
        [edited, ['cup.png', 'jug.png']],
      ] as const) {
        const { events } = await service.getEvents({ ...KEY, eventIds: [id] });
        deepEqual(
          filesOf(events[0]!.event).map(({ name }) => name),
          names,
        );
        deepEqual(Object.keys(events[0]!.event.actions.artifactDelta), names);
      }
    });

    it('may be sent again as a copy, also with another content', async () => {
      const { chat, service, isSent } = open();
      const { id, ...first } = await chat.send(
        { author: 'user', content: { role: 'user', parts: [{ text: 'Look.' }] } },
        { files: [picture()] },
      );
      await until(isSent);
      const content = { role: 'user', parts: [{ text: 'Never mind.' }] };
      const copy = await chat.send({ ...first, invocationId: 'i2' });
      const changed = await chat.send({ ...first, content, invocationId: 'i3' });
      await until(isSent);
      const ids = [id, copy.id, changed.id];
      const { events } = await service.getEvents({ ...KEY, eventIds: ids });
      deepEqual(
        events.map(({ event }) => event.actions.artifactDelta),
        [{ 'tea.png': 0 }, { 'tea.png': 0 }, {}],
      );
    });

    it('rejects offline, and leaves nothing', async () => {
      const { chat, server, service, putNames } = open();
      server.isOffline = true;
      await rejects(chat.ask('Look.', { files: [picture()] }), failsWith('connection_lost'));
      deepEqual(chat.getSnapshot().events, []);
      server.isOffline = false;
      await chat.ask('Look.', { files: [picture()] });
      await until(async () => (await service.getSession(KEY))?.events.length === 2);
      deepEqual(putNames, ['tea.png']);
    });
  });
}

describe('A message with files through a cache', () => {
  it('waits until the messages before it are sent', async () => {
    const { chat, server, cache, stored } = openCached();
    await chat.ask('First.');
    await until(async () => untilSent(cache) && (await stored()).length === 2);
    server.isOffline = true;
    const second = await chat.ask('Second.');
    const asking = chat.ask('Third.', { files: [picture()] });
    server.isOffline = false;
    const third = await asking;
    await until(async () => untilSent(cache) && (await stored()).length === 6);
    const asked = (await stored()).filter(({ author }) => author === 'user');
    deepEqual(idsOf(asked).slice(1), [second.id, third.id]);
  });

  it('rejects with connection_lost once it has waited for readTimeoutMs', async () => {
    const { chat, server, cache, stored, putNames } = openCached(undefined, 50);
    await chat.ask('First.');
    await until(async () => untilSent(cache) && (await stored()).length === 2);
    const end = OUTAGES['does not answer']!(server);
    await chat.ask('Second.');
    await rejects(chat.ask('Third.', { files: [picture()] }), failsWith('connection_lost'));
    deepEqual(putNames, []);
    end();
  });

  it('leaves no new conversation here or there if the second of its files is refused', async () => {
    const { chat, cache, service } = openCached((name) => name === 'cup.png');
    const files = [picture(), picture('cup.png')];
    await rejects(chat.ask('Look.', { files }), failsWith('quota_exceeded'));
    await until(() => untilSent(cache));
    equal(await service.getSession(KEY), undefined);
    equal(await cache.getSession(KEY), undefined);
  });

  it('leaves a new conversation that another device has changed since', async () => {
    const { chat, cache, server, service } = openCached();
    const other = server.client();
    const data = (async function* () {
      yield new Uint8Array(1);
      await other.updateState({ ...KEY, stateDelta: { topic: 'tea' } });
      throw new Error('torn');
    })();
    await rejects(chat.ask('Look.', { files: [{ name: 'bad', data }] }), /torn/);
    await until(() => untilSent(cache));
    deepEqual((await service.getSession(KEY))?.state, { topic: 'tea' });
  });

  it('is sent once if the answer is lost', async () => {
    const { chat, server, cache, stored, message } = openCached();
    await chat.ask('First.');
    await until(async () => untilSent(cache) && (await stored()).length === 2);
    const session = await cache.getSession(KEY);
    ok(session);
    // That of the message, after the file was put.
    server.intercept = async ({ method }) => {
      if (method !== 'POST') return undefined;
      server.lostResponses = 1;
      server.intercept = undefined;
      return undefined;
    };
    const { id } = await chat.send(
      { author: 'user', content: { role: 'user', parts: [{ text: 'Look.' }] } },
      { files: [picture()] },
    );
    await until(async () => untilSent(cache) && (await stored()).length === 3);
    equal((await message()).author, 'user');
    const { events } = await cache.getEvents({ ...KEY, eventIds: [id] });
    deepEqual(filesOf(events[0]!.event), [FILE]);
  });

  it('is set aside if the server refuses its file, with the message in hand', async () => {
    const { chat, cache, service } = openCached();
    await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'First.' }] } });
    await cache.sync();
    await service.artifacts.saveArtifact({ ...KEY, filename: 'plan', artifact: { text: 'mine' } });
    const session = (await cache.getSession(KEY))!;
    const files = [{ part: 0, name: 'plan', version: 0 }];
    const content = { role: 'user', parts: [{ text: '[Uploaded Artifact: "plan"]' }] };
    const forged = { id: 'm1', author: 'user', invocationId: 'i1', content };
    const event = { ...forged, customMetadata: { adk_session_wasm_files: files } };
    await cache.appendEvent({ session, event });
    await until(async () => (await cache.outbox.list(KEY))[0]?.error !== undefined);
    equal((await cache.outbox.list(KEY))[0]?.error?.status, 403);
    equal((await service.getEvents({ ...KEY, eventIds: ['m1'] })).events.length, 0);
  });

  it('takes what the server has stored in place of what it has sent', async () => {
    const { cache } = openCached();
    const session = await cache.createSession(KEY);
    const content = { role: 'user', parts: [{ text: 'Tea?' }] };
    const customMetadata = { adk_session_wasm_files: [FILE], mood: 'good' };
    const event = { id: 'm1', author: 'user', invocationId: 'i1', content, customMetadata };
    await cache.appendEvent({ session, event });
    await until(() => untilSent(cache));
    const { events } = await cache.getEvents({ ...KEY, eventIds: ['m1'] });
    deepEqual(events[0]?.event.customMetadata, { mood: 'good' });
  });

  it('reaches a remote in the same process as it is', async () => {
    const remote = new InMemorySessionService({ artifacts: true });
    const cache = new CachedSessionService({ remote, owner: 'ada', local: new MemoryLocalStore() });
    const chat = liveSession(cache, KEY, { run });
    const { id } = await chat.ask('What is on it?', { files: [picture()] });
    await until(
      async () => untilSent(cache) && (await remote.getSession(KEY))?.events.length === 2,
    );
    const { events } = await remote.getEvents({ ...KEY, eventIds: [id] });
    deepEqual(filesOf(events[0]!.event), [FILE]);
    deepEqual(events[0]?.event.actions.artifactDelta, { 'tea.png': 0 });
    await cache.close();
  });
});

describe('The handle of a remote append', () => {
  it('may leave the metadata of files whose texts are gone', async () => {
    const { server } = openServer();
    const remote = server.client();
    const session = await remote.createSession(KEY);
    const content = { role: 'user', parts: [{ text: 'Never mind.' }] };
    const actions = createEventActions({ artifactDelta: { 'tea.png': 0 } });
    const customMetadata = { adk_session_wasm_files: [FILE] };
    const event = { author: 'user', invocationId: 'i1', content, actions, customMetadata };
    await remote.appendEvent({ session, event });
    deepEqual(session.events[0]?.actions.artifactDelta, {});
  });

  it('keeps the files of the event of an agent', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    const server = new Server(service, { authorize: () => ({ mayWriteAgentEvents: true }) });
    const chat = liveSession(server.client(), KEY);
    const content = { role: 'model', parts: [{ text: 'Look.' }] };
    const event = { author: 'guide', content, invocationId: 'i1' };
    const { id } = await chat.send(event, { files: [picture()] });
    const { events } = await service.getEvents({ ...KEY, eventIds: [id] });
    deepEqual(filesOf(events[0]!.event), [FILE]);
    deepEqual(events[0]?.event.actions.artifactDelta, { 'tea.png': 0 });
  });

  it('gets the event as the server has stored it', async () => {
    const { server, service } = openServer();
    const remote = server.client();
    const session = await remote.createSession(KEY);
    await service.artifacts.put({
      ...KEY,
      filename: 'tea.png',
      data: new Blob(['picture']),
      author: 'user',
    });
    const content = { role: 'user', parts: [{ text: '[Uploaded Artifact: "tea.png"]' }] };
    const files = [{ part: 0, name: 'tea.png', version: 0, size: 9 }];
    const customMetadata = { adk_session_wasm_files: files };
    const event = { author: 'user', invocationId: 'i1', content, customMetadata };
    await remote.appendEvent({ session, event });
    deepEqual(filesOf(session.events[0]!), [
      { part: 0, name: 'tea.png', version: 0, mimeType: 'application/octet-stream', size: 7 },
    ]);
    deepEqual(session.events[0]?.actions.artifactDelta, { 'tea.png': 0 });
  });
});
