// The files of messages, as the model of a Runner gets them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InMemoryArtifactService, LlmAgent, type LlmRequest, Runner } from '@google/adk';

import { type AdkServiceOptions, asAdkService } from '../../../../js/service/adk/index.js';
import {
  type Event,
  InMemorySessionService,
  type MessageFile,
  type NewEvent,
  type Part,
} from '../../../../js/index.js';
import { failsWith } from '../../fails_with.js';
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
    author: 'user',
    invocationId: 'e-1',
    content: { role: 'user', parts: [{ text: 'Look' }, ...texts] },
    customMetadata: { adk_session_wasm_files: files },
  };
}

/** Lets an agent answer, and returns the parts of each message that its model gets. */
async function partsSeen(
  service: InMemorySessionService,
  options: AdkServiceOptions = {},
): Promise<Part[]> {
  const model = new ScriptedModel(['Seen']);
  const agent = new LlmAgent({ name: 'guide', model });
  const sessionService = asAdkService(service, options);
  const runner = new Runner({ appName: 'shop', agent, sessionService });
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
      ...key,
      filename: 'a.png',
      data: new Uint8Array([7]),
      mimeType: PNG,
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
      part: at + 1,
      name,
      version,
      mimeType: PNG,
    }));
    await service.appendEvent({ session, event: messageWith(files) });
    assert.equal((await partsSeen(service)).filter(({ inlineData }) => inlineData).length, 1);
  });

  it('are bytes under the type that models know, whatever browsers and recorders call it', async () => {
    const service = await filled();
    const data = new Uint8Array([1]);
    await say(
      service,
      { filename: 'a', data, mimeType: 'audio/webm;codecs=opus' },
      { filename: 'b', data, mimeType: 'Audio/X-WAV' },
      { filename: 'c', data, mimeType: 'video/quicktime' },
      { filename: 'd', data, mimeType: 'audio/l16; rate=16000' },
    );
    const types = (await partsSeen(service)).flatMap(
      ({ inlineData }) => inlineData?.mimeType ?? [],
    );
    assert.deepEqual(types, ['audio/webm', 'audio/wav', 'video/mov', 'audio/l16; rate=16000']);
  });

  it('are texts for the model if models do not take their type, and their bytes are a text', async () => {
    const service = await filled();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const long = 'ä'.repeat(5000);
    await say(
      service,
      { filename: 'a', data: new Blob(['a,b']), mimeType: 'text/csv; charset=utf-8' },
      { filename: 'b', data: new Blob([svg]), mimeType: 'image/svg+xml' },
      { filename: 'c', data: new Blob(['let a: 1;']), mimeType: 'video/mp2t' },
      { filename: 'd', data: new Blob([`x${long}`]), mimeType: 'application/octet-stream' },
      { filename: 'e', data: new Uint8Array([0xe4]), mimeType: 'text/plain;charset=iso-8859-1' },
      { filename: 'f', data: new Blob(['ü']), mimeType: 'text/plain;charset=none' },
    );
    const texts = (await partsSeen(service)).map(({ text }) => text);
    assert.deepEqual(
      texts.filter((text) => !/^(Look|Now|\[Upload)/.test(text!)),
      ['a,b', svg, 'let a: 1;', `x${long}`, 'ä', 'ü'],
    );
  });

  it('stay texts that stand for them if they are empty, or neither a text nor of a type for models', async () => {
    const service = await filled();
    const empty = new Uint8Array();
    await say(
      service,
      { filename: 'a', data: new Blob(['PK\0']), mimeType: 'application/zip' },
      { filename: 'b', data: new Uint8Array([0x47, 0xff]), mimeType: 'image/gif' },
      { filename: 'c', data: new Blob(['MThd\0']), mimeType: 'text/plain' },
      { filename: 'd', data: new Uint8Array([0xff]), mimeType: 'text/plain' },
      { filename: 'e', data: empty, mimeType: 'text/plain' },
      { filename: 'f', data: empty, mimeType: PNG },
      { filename: 'g', data: new Blob(['\ufeff']), mimeType: 'text/plain' },
    );
    assert.equal((await partsSeen(service)).length, 9);
  });

  it('go by the stored type, if the message tells another', async () => {
    const service = await filled();
    const put = { ...key, filename: 'a.gif', data: new Uint8Array([0xff]), mimeType: 'image/gif' };
    await service.artifacts.put(put);
    const session = (await service.getSession(key))!;
    const event = messageWith([{ part: 1, name: 'a.gif', version: 0, mimeType: PNG, size: 1 }]);
    await service.appendEvent({ session, event });
    assert.equal((await partsSeen(service)).length, 3);
  });

  it('take the type of the artifact, if the message tells none', async () => {
    const service = await filled();
    const data = new Uint8Array([1]);
    await service.artifacts.put({ ...key, filename: 'a.png', data, mimeType: PNG });
    const session = (await service.getSession(key))!;
    await service.appendEvent({
      session,
      event: messageWith([{ part: 1, name: 'a.png', version: 0 }]),
    });
    assert.equal((await partsSeen(service))[2]?.inlineData?.mimeType, PNG);
  });

  it('have the room of a newer one that the model does not get', async () => {
    const service = await filled();
    await say(service, { filename: 'old.png', data: mebibytes(6), mimeType: PNG });
    await say(service, { filename: 'new.zip', data: mebibytes(14), mimeType: 'application/zip' });
    const seen = await textsAndTypesSeen(service);
    assert.equal(seen[2], PNG);
  });

  it('are chosen by the option modelFiles, or none with false', async (t) => {
    const service = await filled();
    const data = new Uint8Array([1]);
    const [a, b] = ['a.png', 'b.png'].map((filename) => ({ filename, data, mimeType: PNG }));
    await say(service, a!, b!);
    const seenWith = async (modelFiles: AdkServiceOptions['modelFiles']) =>
      (await partsSeen(service, { modelFiles })).filter(({ inlineData }) => inlineData).length;
    assert.equal(await seenWith(({ name }) => name === 'b.png'), 1);
    assert.equal(await seenWith(false), 0);
    const reported: unknown[] = [];
    globalThis.reportError = (error: unknown) => void reported.push(error);
    t.after(() => Reflect.deleteProperty(globalThis, 'reportError'));
    const refuse = ({ name }: MessageFile) => {
      if (name === 'a.png') throw new Error('no choice');
      return true;
    };
    assert.equal(await seenWith(refuse), 1);
    assert.match(String(reported), /no choice/);
    const given = { modelFiles: true as never };
    assert.throws(
      () => asAdkService(service, given),
      failsWith('invalid_argument', /^modelFiles /),
    );
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
      ...key,
      sessionId: 's2',
      filename: 'secret.png',
      data: mebibytes(1),
      mimeType: PNG,
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
