import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { createEvent, type Event, filesOf, InMemorySessionService } from '../../../../js/index.js';
import { sessionAttachments } from '../../../../js/ui/assistant_ui/index.js';
import { liveSession, type RunAgent } from '../../../../js/ui/live/index.js';
import { historyOf, KEY, message, text } from './threads.js';

const NOT_SENT = Symbol.for('assistant-ui.message-not-sent');
const TEXT = '[Uploaded Artifact: "tea.png"]';
const picture = (name = 'tea.png'): File => new File(['picture'], name, { type: 'image/png' });

const echo: RunAgent = async function* () {
  yield { author: 'echo', content: { role: 'model', parts: [{ text: 'Tea.' }] } };
};

function open(run: RunAgent | undefined = echo) {
  const service = new InMemorySessionService({ artifacts: true });
  const chat = liveSession(service, KEY, { run });
  return { service, chat, attachments: sessionAttachments(chat) };
}

type Chat = ReturnType<typeof open>;

/** Takes a file into a composer, and sends it. */
async function attached({ attachments }: Chat, file: File) {
  return attachments.send(await attachments.add({ file }));
}

async function sent(opened: Chat, ...files: File[]): Promise<Event> {
  const given = await Promise.all(files.map((file) => attached(opened, file)));
  const content = [text('What is on it?')];
  await opened.attachments.onNew({ sourceId: null, content, attachments: given });
  return lastMessage(opened);
}

async function lastMessage({ chat }: Chat): Promise<Event> {
  await chat.load();
  return chat.getSnapshot().events.findLast(({ author }) => author === 'user')!;
}

const textsOf = ({ content }: Event) => content?.parts?.map(({ text }) => text);

describe('An attachment of a live session', () => {
  it('is a file of the composer, and of the message once it is sent', async () => {
    const opened = open();
    const { attachments, service } = opened;
    const file = picture();
    const { id, ...pending } = await attachments.add({ file });
    const named = { type: 'image', name: 'tea.png', contentType: 'image/png', file };
    deepEqual(pending, { ...named, status: { type: 'requires-action', reason: 'composer-send' } });
    deepEqual(await attachments.send({ id, ...pending }), {
      id,
      ...named,
      status: { type: 'complete' },
      content: [],
    });
    const event = await sent(opened, file, new File(['a'], 'table.csv', { type: 'text/csv' }));
    deepEqual(textsOf(event), ['What is on it?', TEXT, '[Uploaded Artifact: "table.csv"]']);
    const [tea, table] = filesOf(event);
    const created = { createdAt: new Date(event.timestamp), role: 'user' };
    const complete = { type: 'complete' };
    const shown = (data: object | undefined, text: string) => [
      { type: 'text', text },
      { type: 'data', name: 'artifact', data },
    ];
    deepEqual(attachments.convertMessage(event), {
      id: event.id,
      ...created,
      content: [text('What is on it?')],
      attachments: [
        {
          id: `${event.id}/1`,
          type: 'image',
          name: 'tea.png',
          contentType: 'image/png',
          status: complete,
          content: shown(tea, TEXT),
        },
        {
          id: `${event.id}/2`,
          type: 'file',
          name: 'table.csv',
          contentType: 'text/csv',
          status: complete,
          content: shown(table, '[Uploaded Artifact: "table.csv"]'),
        },
      ],
    });
    const blob = await service.artifacts.open({ ...KEY, filename: 'tea.png' });
    equal(await blob?.text(), 'picture');
  });

  it('is back in the composer if it cannot be put', async () => {
    const opened = open();
    const { chat, service } = opened;
    const failure = new Error('full');
    service.artifacts.put = () => Promise.reject(failure);
    // assistant-ui knows such an error by this member.
    await rejects(sent(opened, picture()), { cause: failure, [NOT_SENT]: true });
    await chat.load();
    deepEqual(chat.getSnapshot().events, []);
    deepEqual(Object.keys(chat.getSnapshot().unsent), []);
  });

  it('stays with a message that is shown with its error', async () => {
    const opened = open();
    const failure = new Error('no connection');
    opened.service.appendEvents = () => Promise.reject(failure);
    opened.service.appendEvent = () => Promise.reject(failure);
    await rejects(sent(opened, picture()), failure);
    equal(NOT_SENT in failure, false);
    const { events } = opened.chat.getSnapshot();
    deepEqual(events.map(textsOf), [['What is on it?', TEXT]]);
  });

  it('stays with a message that is stored although its answer was lost', async () => {
    const opened = open();
    const { chat, service } = opened;
    const failure = new Error('no connection');
    const appendEvent = service.appendEvent.bind(service);
    service.appendEvent = async (request) => {
      await appendEvent(request);
      await sleep(20);
      throw failure;
    };
    const stop = chat.subscribe(() => undefined);
    await rejects(sent(opened, picture()), failure);
    equal(NOT_SENT in failure, false);
    stop();
  });

  it('is back in the composer if a message before it has failed by the same error', async () => {
    const opened = open();
    const failure = new Error('no connection');
    opened.service.getSession = () => Promise.reject(failure);
    const content = [text('Tea?')];
    const before = opened.attachments.onNew({ sourceId: null, content });
    await Promise.all([
      rejects(before, failure),
      rejects(sent(opened, picture()), { cause: failure, [NOT_SENT]: true }),
    ]);
    equal(NOT_SENT in failure, false);
  });

  it('stays with its message when that is answered again or edited', async () => {
    const opened = open();
    const { attachments, chat } = opened;
    const { id } = await sent(opened, picture(), picture('cup.png'));
    await chat.regenerate(id);
    const again = await lastMessage(opened);
    const [tea, cup] = filesOf(again);
    deepEqual([again.id === id, tea?.name, cup?.name], [false, 'tea.png', 'cup.png']);
    // The user has taken the cup out of the message, and attached another file.
    const [kept] = attachments.convertMessage(again).attachments ?? [];
    const table = await attached(opened, new File(['a'], 'table.csv'));
    const content = [text('And now?')];
    await attachments.onEdit({ sourceId: again.id, content, attachments: [kept!, table] });
    const edited = await lastMessage(opened);
    deepEqual(textsOf(edited), ['And now?', TEXT, '[Uploaded Artifact: "table.csv"]']);
    const [first, second] = filesOf(edited);
    deepEqual([first, second?.name], [tea, 'table.csv']);
  });

  it('is none of an answer, whose calls and thoughts are shown', async () => {
    const { attachments } = open();
    const parts = [
      { text: 'hm', thought: true },
      { functionCall: { id: 'c1', name: 'find', args: { n: 1 } } },
      { text: TEXT },
    ];
    const file = { part: 2, name: 'tea.png', version: 0 };
    const event = {
      id: 'e1',
      invocationId: 'i1',
      author: 'echo',
      timestamp: 5,
      content: { role: 'model', parts },
      customMetadata: { adk_session_wasm_files: [file] },
    } as unknown as Event;
    const call = { toolCallId: 'c1', toolName: 'find', args: { n: 1 }, argsText: '{"n":1}' };
    deepEqual(attachments.convertMessage(event), {
      id: 'e1',
      createdAt: new Date(5),
      role: 'assistant',
      content: [{ type: 'reasoning', text: 'hm' }, { type: 'tool-call', ...call }, text(TEXT)],
    });
  });
});

it('A history shows the files of stored messages, and a message that is edited keeps them', async () => {
  const opened = open();
  const { attachments, service } = opened;
  const event = await sent(opened, picture());
  const history = historyOf(service, KEY.sessionId);
  const [first] = (await history.load()).messages;
  const shown = attachments.convertMessage(event);
  deepEqual(first?.message.role === 'user' && first.message.attachments, shown.attachments);
  deepEqual(first?.message.content, shown.content);
  const more = { attachments: shown.attachments! };
  const edited = message('m2', 'user', [text('And now?')], more);
  await history.append({ message: edited, parentId: null });
  const { messages } = await history.load();
  const last = messages.find(({ message }) => message.id === 'm2')?.message;
  deepEqual(last?.content, [text('And now?')]);
  const [kept] = (last?.role === 'user' && last.attachments) || [];
  deepEqual(kept?.content, shown.attachments?.[0]?.content);
  const { events } = await service.getEvents({ ...KEY, eventIds: ['m2'] });
  deepEqual(events[0]?.event.actions.artifactDelta, { 'tea.png': 0 });
});

describe('A file in an event of an agent', () => {
  const shown = (mimeType: string, data = 'AAAA') => {
    const parts = [{ inlineData: { mimeType, data } }];
    const event = createEvent({ author: 'guide', content: { role: 'model', parts } });
    return open().attachments.convertMessage({ ...event, id: 'e1', timestamp: 0 }).content;
  };

  it('is a picture by its type alone, without parameters', () => {
    deepEqual(shown('Image/PNG;a=b'), [{ type: 'image', image: 'data:image/png;base64,AAAA' }]);
  });

  it('is a file of unknown bytes if a browser could read its type as another', () => {
    const file = { type: 'file', data: 'AAAA', mimeType: 'application/octet-stream' };
    for (const type of ['image/png,text/html', 'text/html,image/png', 'image/png text/html']) {
      deepEqual(shown(type), [file]);
    }
  });
});
