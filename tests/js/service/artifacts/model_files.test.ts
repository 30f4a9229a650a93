// The files of messages, as the model of a Runner gets them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InMemoryArtifactService, LlmAgent, type LlmRequest, Runner } from '@google/adk';

import { asAdkService } from '../../../../js/service/adk/index.js';
import {
  type Event,
  InMemorySessionService,
  type MessageFile,
  type NewEvent,
  type Part,
} from '../../../../js/index.js';
import { ScriptedModel } from '../adk/pairing/scripted_model.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const PNG = 'image/png';
const MIB = 2 ** 20;

async function filled() {
  const service = new InMemorySessionService({ artifacts: true });
  await service.createSession(key);
  return service;
}

/** Stores a file, and a message with it. */
async function say(
  service: InMemorySessionService,
  ...files: { filename: string; data: Blob | Uint8Array; mimeType: string }[]
): Promise<Event> {
  const stored: MessageFile[] = [];
  for (const [index, file] of files.entries()) {
    const put = await service.artifacts.put({ ...key, ...file });
    const { version, mimeType = '', size = 0 } = put;
    stored.push({ part: index + 1, name: file.filename, version, mimeType, size });
  }
  const session = (await service.getSession(key))!;
  return service.appendEvent({ session, event: messageWith(stored) });
}

function messageWith(files: readonly MessageFile[]): NewEvent {
  const texts = files.map(({ name }) => ({ text: `[Uploaded Artifact: "${name}"]` }));
  return {
    ...{ author: 'user', invocationId: 'e-1' },
    content: { role: 'user', parts: [{ text: 'Look' }, ...texts] },
    customMetadata: { adk_session_wasm_files: files },
  };
}

/** Lets an agent answer, and returns the parts of each message that its model gets. */
async function partsSeen(
  service: InMemorySessionService,
  options: { readonly artifactService?: InMemoryArtifactService } = {},
): Promise<Part[]> {
  const model = new ScriptedModel(['Seen']);
  const agent = new LlmAgent({ name: 'guide', model });
  const sessionService = asAdkService(service);
  const runner = new Runner({ appName: 'shop', agent, sessionService, ...options });
  const { userId, sessionId } = key;
  const newMessage = { role: 'user', parts: [{ text: 'Now' }] };
  const events = runner.runAsync({ userId, sessionId, newMessage });
  while ((await events.next()).done !== true);
  const [request] = model.requests as [LlmRequest];
  return request.contents.flatMap(({ parts }) => parts ?? []);
}

/** Returns of each part that the model gets its text, or the type of its bytes. */
async function textsAndTypesSeen(service: InMemorySessionService): Promise<(string | undefined)[]> {
  return (await partsSeen(service)).map(({ inlineData, text }) => text ?? inlineData?.mimeType);
}

const mebibytes = (count: number) => new Uint8Array(count * MIB);

describe('The files of a message, for the model of a Runner', () => {
  it('are behind the texts that stand for them', async () => {
    const service = await filled();
    const a = { filename: 'a.png', data: new Uint8Array([1, 2]), mimeType: PNG };
    const b = { filename: 'b.png', data: new Uint8Array([3]), mimeType: PNG };
    await say(service, a, b);
    assert.deepEqual(await partsSeen(service), [
      { text: 'Look' },
      { text: '[Uploaded Artifact: "a.png"]' },
      { inlineData: { mimeType: PNG, data: 'AQI=' } },
      { text: '[Uploaded Artifact: "b.png"]' },
      { inlineData: { mimeType: PNG, data: 'Aw==' } },
      { text: 'Now' },
    ]);
  });

  it('are not stored', async () => {
    const service = await filled();
    const { id } = await say(service, { filename: 'a.png', data: mebibytes(1), mimeType: PNG });
    await partsSeen(service);
    const session = (await service.getSession(key))!;
    const event = session.events.find((event) => event.id === id);
    assert.deepEqual(event?.content?.parts, [
      { text: 'Look' },
      { text: '[Uploaded Artifact: "a.png"]' },
    ]);
  });

  it('come with a message that is appended in the turn', async () => {
    const service = await filled();
    const adk = asAdkService(service);
    const session = (await adk.getSession(key))!;
    const { version } = await service.artifacts.put({
      ...{ ...key, filename: 'a.png', data: new Uint8Array([7]), mimeType: PNG },
    });
    const event = messageWith([{ part: 1, name: 'a.png', version, mimeType: PNG, size: 1 }]);
    const appended = await adk.appendEvent({ session, event });
    const file = { inlineData: { mimeType: PNG, data: 'Bw==' } };
    assert.deepEqual(session.events.at(-1)?.content?.parts?.at(-1), file);
    assert.equal(appended, event);
    assert.deepEqual(event.content, messageWith([{ part: 1, name: 'a.png', version }]).content);
  });

  it('take 15 MiB, and the newest have them', async () => {
    const service = await filled();
    for (const name of ['old', 'middle', 'new']) {
      await say(service, { filename: `${name}.png`, data: mebibytes(6), mimeType: PNG });
    }
    assert.deepEqual(await textsAndTypesSeen(service), [
      ...['Look', '[Uploaded Artifact: "old.png"]'],
      ...['Look', '[Uploaded Artifact: "middle.png"]', PNG],
      ...['Look', '[Uploaded Artifact: "new.png"]', PNG],
      'Now',
    ]);
  });

  it('take 15 MiB also if another program has stored wrong sizes', async () => {
    const service = await filled();
    const files: MessageFile[] = [];
    for (const [at, filename] of ['a.png', 'b.png'].entries()) {
      const file = { ...key, filename, data: mebibytes(8), mimeType: PNG };
      const { version } = await service.artifacts.put(file);
      files.push({ part: at + 1, name: filename, version, mimeType: PNG, size: 0 });
    }
    const session = (await service.getSession(key))!;
    await service.appendEvent({ session, event: messageWith(files) });
    assert.equal((await partsSeen(service)).filter(({ inlineData }) => inlineData).length, 1);
  });

  it('take 15 MiB also if messages do not tell their sizes', async () => {
    const service = await filled();
    const session = (await service.getSession(key))!;
    for (const [filename, size] of [
      ['oldest.png', 2],
      ['old.png', 8],
      ['middle.png', 4],
      ['new.png', 6],
    ] as const) {
      const file = { ...key, filename, data: mebibytes(size), mimeType: PNG };
      const { version } = await service.artifacts.put(file);
      const files = [{ part: 1, name: filename, version, mimeType: PNG }];
      await service.appendEvent({ session, event: messageWith(files) });
    }
    assert.deepEqual(await textsAndTypesSeen(service), [
      ...['Look', '[Uploaded Artifact: "oldest.png"]', PNG],
      ...['Look', '[Uploaded Artifact: "old.png"]'],
      ...['Look', '[Uploaded Artifact: "middle.png"]', PNG],
      ...['Look', '[Uploaded Artifact: "new.png"]', PNG],
      'Now',
    ]);
  });

  it('have the room of a file of an unknown size that cannot be read', async () => {
    const service = await filled();
    const session = (await service.getSession(key))!;
    const file = { ...key, filename: 'a.png', data: new Uint8Array([7]), mimeType: PNG };
    const { version } = await service.artifacts.put(file);
    const files = ['a.png', 'gone.png'].map((name, at) => ({
      ...{ part: at + 1, name, version, mimeType: PNG },
    }));
    await service.appendEvent({ session, event: messageWith(files) });
    assert.equal((await partsSeen(service)).filter(({ inlineData }) => inlineData).length, 1);
  });

  it('are texts for the model if they are texts, and left out if models do not take their type', async () => {
    const service = await filled();
    const csv = { filename: 'a.csv', data: new Blob(['a,b']), mimeType: 'text/csv; charset=utf-8' };
    const zip = { filename: 'b.zip', data: new Blob(['PK']), mimeType: 'application/zip' };
    await say(service, csv, zip);
    assert.deepEqual((await partsSeen(service)).slice(1, 4), [
      { text: '[Uploaded Artifact: "a.csv"]' },
      { text: 'a,b' },
      { text: '[Uploaded Artifact: "b.zip"]' },
    ]);
  });

  it('stay texts if they cannot be read, and the turn goes on', async () => {
    const service = await filled();
    await say(service, { filename: 'a.png', data: mebibytes(1), mimeType: PNG });
    await service.artifacts.deleteArtifact({ ...key, filename: 'a.png' });
    assert.deepEqual(await partsSeen(service), [
      { text: 'Look' },
      { text: '[Uploaded Artifact: "a.png"]' },
      { text: 'Now' },
    ]);
  });

  it('are those of the own session and user, whatever the metadata says', async () => {
    const service = await filled();
    await service.createSession({ ...key, sessionId: 's2' });
    await service.artifacts.put({
      ...{ ...key, sessionId: 's2', filename: 'secret.png', data: mebibytes(1), mimeType: PNG },
    });
    const session = (await service.getSession(key))!;
    const names = ['secret.png', '../s2/secret.png', 'user:../../bob/secret.png'];
    const files = names.map((name, at) => ({
      part: at + 1,
      name,
      version: 0,
      mimeType: PNG,
      size: 1,
    }));
    await service.appendEvent({ session, event: messageWith(files) });
    assert.equal((await partsSeen(service)).filter(({ inlineData }) => inlineData).length, 0);
  });

  it('are read once in a turn', async () => {
    const given = new InMemoryArtifactService();
    const service = new InMemorySessionService({ artifacts: given });
    await service.createSession(key);
    await say(service, { filename: 'a.png', data: new Uint8Array([1]), mimeType: PNG });
    let reads = 0;
    const load = given.loadArtifact.bind(given);
    given.loadArtifact = (request) => {
      reads += 1;
      return load(request);
    };
    const adk = asAdkService(service);
    const session = (await adk.getSession(key))!;
    const before = reads;
    for (const text of ['one', 'two']) {
      await adk.appendEvent({
        session,
        event: { author: 'guide', invocationId: 'e-2', content: { parts: [{ text }] } },
      });
    }
    assert.ok(before > 0);
    assert.equal(reads, before);
  });
});
