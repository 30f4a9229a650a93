import { describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, filesOf, InMemorySessionService } from '../../../../js/index.js';
import { type LiveSession, liveSession, type RunAgent } from '../../../../js/ui/live/index.js';
import { CORE } from '../../../../js/core/core_of.js';
import { artifactsOf } from '../../../../js/service/files/artifact_lines.js';
import { FolderHome } from '../../../../js/stores/artifacts/folder_home.js';
import { newFolder } from '../../../new_folder.js';
import { failsWith } from '../../fails_with.js';
import { byCaseAndAccents, insensitiveFiles } from '../../stores/artifacts/insensitive_files.js';
import { idsOf, KEY } from '../../ui/live/stores.js';

const PNG = { type: 'image/png' };
const picture = (text = 'picture', name = 'tea.png'): File => new File([text], name, PNG);
const TEXT = '[Uploaded Artifact: "tea.png"]';

const echo: RunAgent = async function* () {
  yield { author: 'echo', content: { role: 'model', parts: [{ text: 'Tea.' }] } };
};

function open() {
  const service = new InMemorySessionService({ artifacts: true });
  return { service, chat: liveSession(service, KEY, { run: echo }) };
}

const textsOf = (event: Event | undefined): (string | undefined)[] =>
  event?.content?.parts?.map(({ text }) => text) ?? [];

const namesOf = (event: Event): string[] => filesOf(event).map(({ name }) => name);

async function storedIn(service: InMemorySessionService, id: string): Promise<Event | undefined> {
  const { events } = await service.getEvents({ ...KEY, eventIds: [id] });
  return events[0]?.event;
}

/** A shown chat whose reads of the session answer late. */
async function openSlow(milliseconds: number) {
  const { service, chat } = open();
  const getSession = service.getSession.bind(service);
  service.getSession = async (request) => {
    const session = await getSession(request);
    // The reads of the store, and none of a message.
    if (request.config?.numRecentEvents !== 0) await sleep(milliseconds);
    return session;
  };
  const stop = chat.subscribe(() => undefined);
  await chat.load();
  return { service, chat, stop };
}

/** Fails a moment after the session was created. */
async function* tearing() {
  await sleep(5);
  yield* failing();
}

async function assertSentAgain(service: InMemorySessionService, chat: LiveSession): Promise<void> {
  const { id } = await chat.ask('New.', { files: [picture()] });
  deepEqual(idsOf((await service.getSession(KEY))!.events).slice(0, 1), [id]);
}

describe('A message with files', () => {
  it('has a text, a delta and metadata for each, and no other reference', async () => {
    const { service, chat } = open();
    const { id } = await chat.ask('What is on it?', { files: [picture()] });
    const stored = await storedIn(service, id);
    deepEqual(textsOf(stored), ['What is on it?', TEXT]);
    deepEqual(stored?.actions.artifactDelta, { 'tea.png': 0 });
    const file = { part: 1, name: 'tea.png', version: 0, mimeType: 'image/png', size: 7 };
    deepEqual(stored?.customMetadata, { adk_session_wasm_files: [file] });
    const blob = await service.artifacts.open({ ...KEY, filename: 'tea.png', version: 0 });
    deepEqual([blob?.type, await blob?.text()], ['image/png', 'picture']);
    const version = await service.artifacts.getArtifactVersion({ ...KEY, filename: 'tea.png' });
    equal(version?.author, 'user');
  });

  it('may have no text of its own', async () => {
    const { chat } = open();
    deepEqual(textsOf(await chat.ask('', { files: [picture()] })), [TEXT]);
  });

  it('is stored without a run by send', async () => {
    const { service, chat } = open();
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'Look.' }] } };
    const sent = await chat.send(event, { files: [picture()] });
    deepEqual(namesOf((await storedIn(service, sent.id))!), ['tea.png']);
  });

  it('takes Blobs, and bytes with a name', async () => {
    const { chat } = open();
    const data = new TextEncoder().encode('a,b');
    const files = [
      new Blob(['x'], PNG),
      new Blob(['y'], { type: 'audio/webm;codecs=opus' }),
      { name: 'table.csv', data, mimeType: 'text/csv' },
      picture(),
    ];
    const sent = filesOf(await chat.ask('Look.', { files }));
    deepEqual(
      sent.map(({ part, name, mimeType, size }) => [part, name, mimeType, size]),
      [
        [1, 'file.png', 'image/png', 1],
        [2, 'file.webm', 'audio/webm;codecs=opus', 1],
        [3, 'table.csv', 'text/csv', 3],
        [4, 'tea.png', 'image/png', 7],
      ],
    );
  });

  it('has the bytes that were given, whatever the caller writes over them', async () => {
    const { service, chat } = open();
    const data = new TextEncoder().encode('tea');
    const files = [{ name: 'a.txt', data }];
    const asking = chat.ask('Look.', { files });
    data.fill(0);
    files.length = 0;
    await asking;
    const blob = await service.artifacts.open({ ...KEY, filename: 'a.txt' });
    equal(await blob?.text(), 'tea');
  });

  it('is not stored if a file was changed after it was chosen, and the error names the file', async () => {
    const { service, chat } = open();
    const changed = picture();
    const cause = new DOMException('The file was changed.', 'NotReadableError');
    changed.slice = () => {
      const slice = new Blob(['picture']);
      slice.arrayBuffer = () => Promise.reject(cause);
      return slice;
    };
    await rejects(chat.ask('Look.', { files: [changed] }), (error: Error) => {
      equal(error.cause, cause);
      return failsWith('invalid_argument', /"tea\.png" cannot be read/)(error);
    });
    equal(await service.getSession(KEY), undefined);
    deepEqual(chat.getSnapshot().events, []);
  });

  it('gives two files of one name two names', async () => {
    const { service, chat } = open();
    const sent = await chat.ask('Both.', { files: [picture('first'), picture('second')] });
    deepEqual(namesOf(sent), ['tea.png', 'tea-2.png']);
    deepEqual(sent.actions.artifactDelta, { 'tea.png': 0, 'tea-2.png': 0 });
    const blob = await service.artifacts.open({ ...KEY, filename: 'tea-2.png' });
    equal(await blob?.text(), 'second');
  });

  it('makes a version of a file that an earlier message has', async () => {
    const { chat } = open();
    await chat.ask('One.', { files: [picture()] });
    const { actions } = await chat.ask('Two.', { files: [picture()] });
    deepEqual(actions.artifactDelta, { 'tea.png': 1 });
  });

  it('leaves the file of an agent, and names its own differently', async () => {
    const { service, chat } = open();
    await service.createSession(KEY);
    const artifact = { text: 'of the agent' };
    await service.artifacts.saveArtifact({ ...KEY, filename: 'tea.png', artifact });
    const sent = await chat.ask('Mine.', { files: [picture()] });
    deepEqual(namesOf(sent), ['tea-2.png']);
    const version = await service.artifacts.getArtifactVersion({ ...KEY, filename: 'tea-2.png' });
    equal(version?.displayName, 'tea.png');
  });

  it('leaves a file that an agent has named itself the author of, or has written before a user', async () => {
    for (const authors of [['writer'], ['writer', 'user'], [undefined, 'user']]) {
      const { service, chat } = open();
      await service.createSession(KEY);
      for (const author of authors) {
        const artifact = { text: 'tea' };
        await service.artifacts.saveArtifact({ ...KEY, filename: 'tea.png', artifact, author });
      }
      const sent = await chat.ask('Mine.', { files: [picture()] });
      deepEqual(namesOf(sent), ['tea-2.png']);
    }
  });

  it('takes each name, also one that no file can have', async () => {
    const { chat } = open();
    const names = [
      'a\\b.png',
      '..',
      'user:me.png',
      ' tea .png ',
      'versions/x',
      '',
      'é'.repeat(300),
    ];
    const sent = await chat.ask('Odd.', { files: names.map((name) => picture('x', name)) });
    equal(filesOf(sent).length, names.length);
    ok(namesOf(sent).every((name) => !name.startsWith('user:')));
    equal(namesOf(sent)[0], 'a_b.png');
  });

  it('gives a file another name if its folder refuses the name, for a stream too', async () => {
    for (const platform of ['win32', 'darwin'] as const) {
      const folder = newFolder();
      const node = insensitiveFiles(folder, byCaseAndAccents);
      const home = new FolderHome(folder, { ...node, isWindows: platform === 'win32' });
      const service = new InMemorySessionService({ artifacts: true });
      Object.defineProperty((await artifactsOf(service))!, 'home', { value: home });
      const chat = liveSession(service, KEY, { run: echo });
      const names = ['what?.png', 'CON', 'A.txt', 'a.txt', 'con/b.txt'];
      const blobs = names.map((name) => picture('x', name));
      const stream = { name: 'LPT1.txt', data: new Blob(['yz']).stream() };
      const sent = filesOf(await chat.ask('Odd.', { files: [...blobs, stream] }));
      const given =
        platform === 'win32'
          ? ['what_.png', 'CON-2', 'A.txt', 'a-2.txt', 'con_b.txt', 'LPT1-2.txt']
          : ['what?.png', 'CON', 'A.txt', 'a-2.txt', 'con_b.txt', 'LPT1.txt'];
      deepEqual(
        sent.map(({ name }) => name),
        given,
      );
      equal(sent.at(-1)?.size, 2);
    }
  });

  it('is neither stored nor shown if the second of its three files fails', async () => {
    const { service, chat } = open();
    await service.createSession(KEY);
    const files = [picture(), { name: 'bad', data: failing() }, picture('x', 'cup.png')];
    await rejects(chat.ask('Three.', { files }), /torn/);
    equal(chat.getSnapshot().events.length, 0);
    deepEqual((await service.getSession(KEY))?.events, []);
  });

  it('leaves no new conversation if a put fails', async () => {
    const { service, chat } = open();
    await rejects(chat.ask('New.', { files: [{ name: 'bad', data: failing() }] }), /torn/);
    equal(await service.getSession(KEY), undefined);
    await assertSentAgain(service, chat);
  });

  it('may be sent again after a put fails, also if the deletion of its session then fails halfway', async () => {
    const { service, chat } = open();
    const { deletable } = service[CORE];
    const { deleteUnchanged } = deletable;
    deletable.deleteUnchanged = async (...given) => {
      await deleteUnchanged.apply(deletable, given);
      throw new Error('its files are not erased');
    };
    const stop = chat.subscribe(() => undefined);
    await chat.load();
    await rejects(chat.ask('New.', { files: [{ name: 'bad', data: failing() }] }), /torn/);
    await sleep(20);
    equal(chat.getSnapshot().status, 'missing');
    await assertSentAgain(service, chat);
    stop();
  });

  it('may be sent again after a put fails, also if a slow read had found its session', async () => {
    const { service, chat, stop } = await openSlow(20);
    await rejects(chat.ask('New.', { files: [{ name: 'bad', data: tearing() }] }), /torn/);
    await sleep(60);
    equal(chat.getSnapshot().status, 'missing');
    await assertSentAgain(service, chat);
    stop();
  });

  it('that cannot be put leaves the next message, sent while a slow read still finds its session', async () => {
    const { service, chat, stop } = await openSlow(100);
    const failed = rejects(chat.ask('New.', { files: [{ name: 'bad', data: tearing() }] }), /torn/);
    await sleep(40);
    const { id } = await chat.ask('Next.');
    await failed;
    deepEqual(idsOf((await service.getSession(KEY))!.events).slice(0, 1), [id]);
    while (chat.getSnapshot().status !== 'ready') await sleep(10);
    stop();
  });

  it('leaves a new conversation that somebody has changed since', async () => {
    const { service, chat } = open();
    const data = (async function* () {
      yield new Uint8Array(1);
      await service.updateState({ ...KEY, stateDelta: { topic: 'tea' } });
      throw new Error('torn');
    })();
    await rejects(chat.ask('New.', { files: [{ name: 'bad', data }] }), /torn/);
    deepEqual((await service.getSession(KEY))?.state, { topic: 'tea' });
  });

  it('leaves a new conversation that got a title or a file of somebody else since', async () => {
    const uses = {
      title: (service: InMemorySessionService) => service.updateSession(KEY, { title: 'Tea' }),
      file: (service: InMemorySessionService) =>
        service.artifacts.put({ ...KEY, filename: 'plan.txt', data: new Blob(['x']) }),
      version: (service: InMemorySessionService) =>
        service.artifacts.put({ ...KEY, filename: 'tea.png', data: new Blob(['x']) }),
    };
    for (const [use, run] of Object.entries(uses)) {
      const { service, chat } = open();
      const data = (async function* () {
        yield new Uint8Array(1);
        await run(service);
        throw new Error('torn');
      })();
      await rejects(chat.ask('New.', { files: [picture(), { name: 'bad', data }] }), /torn/);
      ok(await service.getSession(KEY), use);
    }
  });

  it('leaves a new conversation that another message of the chat is about to get', async () => {
    const { service, chat } = open();
    // The put of the first file fails in the step in which that of the second is done.
    const { artifacts } = service;
    const put = artifacts.put.bind(artifacts);
    let fail: (error: Error) => void = () => undefined;
    artifacts.put = async (request) => {
      if (request.filename === 'bad.png') {
        return new Promise((_, reject) => {
          fail = reject;
        });
      }
      const version = await put(request);
      queueMicrotask(() => fail(new Error('torn')));
      return version;
    };
    const bad = chat.ask('Bad.', { files: [picture('x', 'bad.png')] });
    const good = chat.ask('Good.', { files: [picture()] });
    await rejects(bad, /torn/);
    const { id } = await good;
    ok((await service.getSession(KEY))?.events.some((event) => event.id === id));
  });

  it('is stored as one without files if the list is empty', async () => {
    const service = new InMemorySessionService();
    const chat = liveSession(service, KEY, { run: echo });
    const { id } = await chat.ask('Tea?', { files: [] });
    deepEqual(textsOf(await storedIn(service, id)), ['Tea?']);
    const empty = { role: 'user', parts: [] };
    await rejects(chat.ask(empty, { files: [] }), failsWith('invalid_argument'));
    for (const files of ['', 'tea.png', picture()]) {
      await rejects(chat.ask('No.', { files: files as never }), failsWith('invalid_argument'));
    }
  });

  it('can be opened if the file is empty', async () => {
    const { service, chat } = open();
    const files = [new File([], 'a'), { name: 'b', data: new Uint8Array(0) }];
    const sent = filesOf(await chat.ask('Empty.', { files }));
    for (const { name: filename } of sent) {
      const blob = await service.artifacts.open({ ...KEY, filename });
      deepEqual([blob?.size, blob?.type], [0, 'text/plain']);
    }
    equal(sent.length, 2);
  });

  it('keeps its files if a copy of it is sent with others', async () => {
    const { service, chat } = open();
    const { id, ...first } = await chat.ask('Look.', { files: [picture()] });
    const copy = { ...first, invocationId: 'i2' };
    const again = await chat.send(copy, { files: [picture('x'), picture('cup', 'cup.png')] });
    const stored = (await storedIn(service, again.id))!;
    ok(again.id !== id);
    deepEqual(namesOf(stored), ['tea.png', 'tea-2.png', 'cup.png']);
    deepEqual(stored.actions.artifactDelta, { 'tea.png': 0, 'tea-2.png': 0, 'cup.png': 0 });
  });

  it('has no file any more if a copy of it is sent with another content', async () => {
    const { service, chat } = open();
    const { id, ...first } = await chat.ask('Look.', { files: [picture()] });
    const content = { role: 'user', parts: [{ text: 'Never mind.' }] };
    const again = await chat.send({ ...first, content, invocationId: 'i2' });
    const stored = (await storedIn(service, again.id))!;
    ok(again.id !== id);
    deepEqual([stored.actions.artifactDelta, stored.customMetadata], [{}, undefined]);
  });

  it('is refused with more than 100 files, before one is put', async () => {
    const { service, chat } = open();
    const files = Array.from({ length: 101 }, () => picture());
    await rejects(chat.ask('Many.', { files }), failsWith('invalid_argument'));
    equal(await service.getSession(KEY), undefined);
  });

  it('is refused by a service without files, and by a value that is no file', async () => {
    const chat = liveSession(new InMemorySessionService(), KEY, { run: echo });
    await rejects(chat.ask('No.', { files: [picture()] }), failsWith('artifact_service_missing'));
    const { chat: other } = open();
    for (const file of [undefined, 'tea.png', { name: 'x' }, { data: new Blob([]) }]) {
      await rejects(other.ask('No.', { files: [file as never] }), failsWith('invalid_argument'));
    }
  });
});

describe('An edited message', () => {
  async function ask(chat: LiveSession): Promise<Event> {
    const stop = chat.subscribe(() => undefined);
    const sent = await chat.ask('What is it?', { files: [picture(), picture('cup', 'cup.png')] });
    while (chat.getSnapshot().run !== undefined) await new Promise((done) => setTimeout(done, 5));
    stop();
    return sent;
  }

  it('keeps its files when it is asked again', async () => {
    const { chat } = open();
    const sent = await ask(chat);
    const again = await chat.regenerate(sent.id);
    deepEqual(again.content, sent.content);
    deepEqual(again.actions.artifactDelta, { 'tea.png': 0, 'cup.png': 0 });
    deepEqual(filesOf(again), filesOf(sent));
  });

  it('has the files whose text it keeps, where the texts stand, and those given with it', async () => {
    const { chat } = open();
    const sent = await ask(chat);
    const parts = [{ text: '[Uploaded Artifact: "cup.png"]' }, { text: 'And this?' }];
    const files = [picture('jug', 'jug.png')];
    const edited = await chat.edit(sent.id, { role: 'user', parts }, { files });
    deepEqual(
      filesOf(edited).map(({ part, name, version }) => [part, name, version]),
      [
        [0, 'cup.png', 0],
        [2, 'jug.png', 0],
      ],
    );
    deepEqual(edited.actions.artifactDelta, { 'cup.png': 0, 'jug.png': 0 });
  });

  it('has no file if no text is left', async () => {
    const { chat } = open();
    const sent = await ask(chat);
    const edited = await chat.edit(sent.id, 'Never mind.');
    deepEqual([filesOf(edited), edited.actions.artifactDelta], [[], {}]);
    equal(edited.customMetadata, undefined);
  });
});

async function* failing(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
  throw new Error('torn');
}
