// The page of the tests with the real assistant-ui: the chat of docs/assistant_ui.md, and one with images and tools.

import {
  AssistantRuntimeProvider,
  type AssistantRuntime,
  type ChatModelAdapter,
  type ThreadMessage,
  useAui,
  useExternalStoreRuntime,
  useLocalRuntime,
  useRemoteThreadListRuntime,
} from '@assistant-ui/react';
import { openSessionService } from 'adk-session-wasm';
import {
  sessionAttachments,
  sessionHistory,
  sessionThreadList,
} from 'adk-session-wasm/assistant-ui';
import { type LiveSession, liveSession, type RunAgent } from 'adk-session-wasm/live';
import { StrictMode, useMemo, useSyncExternalStore } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { exposeScenarios } from '../../expose_scenarios.js';
import { AgentChat } from './agent_chat.js';
import { Chat } from './chat.js';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';

let runtime: AssistantRuntime;

const pause = () => new Promise((done) => setTimeout(done, 20));

async function until<T>(find: () => T | undefined | false | null): Promise<T> {
  for (let tries = 0; tries < 3000; tries += 1) {
    const found = find();
    if (found) return found;
    await pause();
  }
  throw new Error(`it did not happen: ${find}; the page has ${document.body.innerText}`);
}

const errors: string[] = [];
addEventListener('error', ({ message }) => errors.push(message));
addEventListener('unhandledrejection', ({ reason }) => errors.push(String(reason)));

let root: Root | undefined;
function show(element: React.ReactElement): void {
  root?.unmount();
  root = createRoot(document.body.appendChild(document.createElement('div')));
  root.render(<StrictMode>{element}</StrictMode>);
}

const texts = () => [...document.querySelectorAll('p')].map(({ innerText }) => innerText);
const buttons = (name: string) =>
  [...document.querySelectorAll('button')].filter(({ innerText }) => innerText === name);

/** The titles of the threads that are shown, without the one that is new. */
const titles = () => {
  const names = [...document.querySelectorAll('button')].map(({ innerText }) => innerText);
  return names.slice(1).filter((name) => !['Archive', 'Delete', 'Send', 'New chat'].includes(name));
};

async function write(text: string): Promise<void> {
  const input = await until(() => document.querySelector('textarea'));
  const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!;
  set!.call(input, text);
  input.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

const click = async (name: string) =>
  (await until(() => buttons(name).find(({ disabled }) => !disabled))).click();

async function send(text: string): Promise<void> {
  const count = texts().length;
  await write(text);
  await click('Send');
  await until(() => texts().length === count + 2);
}

/** Opens the chat of the page, and sends messages in a new thread. Returns the texts, and the errors of the page. */
async function converse(...messages: string[]): Promise<string[]> {
  if (root === undefined) show(<Chat />);
  (await until(() => buttons('New chat')[0])).click();
  await until(() => texts().length === 0);
  for (const message of messages) await send(message);
  await until(() => titles().includes(messages[0]!));
  // A message is shown before it is stored, and the test may reload the page at once.
  const isStored = async () =>
    (await stored()).some(([title, , count]) => title === messages[0] && count === texts().length);
  while (!(await isStored())) await pause();
  return [...texts(), ...errors];
}

/** Opens the chat and the thread of that title. */
async function openThread(title: string): Promise<{ titles: string[]; texts: string[] }> {
  if (root === undefined) show(<Chat />);
  (await until(() => buttons(title)[0])).click();
  await until(() => texts()[0] === title);
  return { titles: titles(), texts: [...texts(), ...errors] };
}

/** Archives or deletes the newest thread. */
async function end(how: 'Archive' | 'Delete'): Promise<string[]> {
  const count = titles().length;
  buttons(how)[0]!.click();
  await until(() => titles().length === count - 1);
  return [...titles(), ...errors];
}

type Stored = [title: string | undefined, archived: string, events: number | undefined];

/** What is stored of each session. */
async function stored(): Promise<Stored[]> {
  const service = await openSessionService({ storage: 'indexeddb', name: 'my-chat' });
  const user = { appName: 'chat', userId: 'me' };
  const { sessions } = await service.listSessions({ ...user, order: 'desc' });
  const rows = sessions.map(async ({ id, title, labels }): Promise<Stored> => {
    const session = await service.getSession({ ...user, sessionId: id });
    return [title, labels?.archived ?? 'no', session?.events.length];
  });
  const all = await Promise.all(rows);
  await service.close();
  return all;
}

/** Has an answer twice again, and goes back to the first. Returns what is shown each time, and the errors of the page. */
async function switchAnswers(): Promise<string[][]> {
  show(<AgentChat />);
  const shown = (): string[] => {
    const counts = [...document.querySelectorAll('span')].map(({ innerText }) => innerText);
    return [...texts(), ...counts.map((text) => text.replace(/[<>\s]/g, ''))];
  };
  const after = async (action: () => unknown, count: string | undefined): Promise<string[]> => {
    await action();
    // While the agent runs, assistant-ui shows an answer without text.
    const isWhole = (): boolean =>
      shown().length === (count === undefined ? 2 : 3) && !shown().includes('');
    await until(() => isWhole() && shown()[2] === count);
    return [...shown(), ...errors];
  };
  return [
    await after(() => send('Which tea?'), undefined),
    await after(() => click('Again'), '2/2'),
    await after(() => click('Again'), '3/3'),
    await after(() => click('<'), '2/3'),
    await after(() => click('<'), '1/3'),
  ];
}

/** Chooses a file in the browser's dialog, which a page cannot open by itself. */
function pick(...files: File[]): void {
  const dialog = HTMLInputElement.prototype;
  const { click } = dialog;
  dialog.click = function (this: HTMLInputElement) {
    dialog.click = click;
    const chosen = new DataTransfer();
    for (const file of files) chosen.items.add(file);
    this.files = chosen.files;
    this.dispatchEvent(new Event('change'));
  };
  buttons('Add files')[0]!.click();
}

/** Lets every write of a file fail, as on a full disk. Returns the function that ends that. */
function fillDisk(): () => void {
  const objects = IDBObjectStore.prototype;
  const { put } = objects;
  objects.put = function (this: IDBObjectStore, ...given) {
    if (given[0] instanceof Blob) throw new DOMException('', 'QuotaExceededError');
    return put.apply(this, given);
  };
  return () => void (objects.put = put);
}

/** Sends a file of the documented chat with agents twice; the first put fails. Returns what is shown each time. */
async function attach(): Promise<unknown[]> {
  const service = await openSessionService({
    storage: 'indexeddb',
    name: 'my-agent-chat',
    artifacts: true,
  });
  const key = { appName: 'chat', userId: 'me', sessionId: 's1' };
  await service.deleteSession(key);
  show(<AgentChat />);
  const inComposer = () => [...document.querySelectorAll('b')].map(({ innerText }) => innerText);
  const picture = async () => {
    const shown = await until(() => document.querySelector('img'));
    await until(() => shown.naturalWidth > 0);
    return [shown.alt, shown.naturalWidth, shown.src.slice(0, 5)];
  };
  const shown = () => [texts(), inComposer(), document.querySelector('textarea')?.value];
  await until(() => buttons('Add files')[0]);
  const canvas = new OffscreenCanvas(1, 1);
  canvas.getContext('2d')!.fillRect(0, 0, 1, 1);
  pick(new File([await canvas.convertToBlob()], 'tea.png', { type: 'image/png' }));
  await until(() => inComposer().length === 1);
  const results: unknown[] = [];
  await write('What is on it?');
  const end = fillDisk();
  await click('Send');
  await until(() => document.querySelector('textarea')?.value === '');
  await until(() => document.querySelector('textarea')?.value !== '');
  results.push(shown(), (await service.getSession(key))?.events.length);
  end();
  await click('Send');
  await until(() => texts().length === 2 && !texts().includes(''));
  results.push(shown(), await picture());
  await click('Again');
  await until(() => [...document.querySelectorAll('span')].length === 1);
  await until(() => texts().length === 2 && !texts().includes(''));
  results.push(shown(), await picture());
  const { events = [] } = (await service.getSession(key)) ?? {};
  const asked = events.filter(({ content, author }) => author === 'user' && content?.parts?.length);
  for (const { content, actions } of asked) {
    results.push([content?.parts?.map(({ text }) => text), actions.artifactDelta]);
  }
  await service.close();
  return [...results, errors];
}

const run: RunAgent = async function* () {
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'A cup.' }] } };
};

function Files({ chat }: { chat: LiveSession }) {
  const { events, run } = useSyncExternalStore(chat.subscribe, chat.getSnapshot);
  const attachments = useMemo(() => sessionAttachments(chat), [chat]);
  const { convertMessage, onNew, onEdit } = attachments;
  runtime = useExternalStoreRuntime({
    convertMessage,
    onNew,
    onEdit,
    messages: events,
    isRunning: run?.status === 'running',
    adapters: { attachments },
  });
  return <AssistantRuntimeProvider runtime={runtime}>files</AssistantRuntimeProvider>;
}

/** Edits a message with two files: takes one out, and attaches another. Returns the stored messages. */
async function editAttached(): Promise<unknown[]> {
  const service = await openSessionService({ storage: 'memory', artifacts: true });
  const key = { appName: 'chat', userId: 'me', sessionId: 's1' };
  const chat = liveSession(service, key, { run });
  show(<Files chat={chat} />);
  await until(() => document.body.innerText.includes('files'));
  const { thread } = runtime;
  const file = (name: string) => new File([name], name, { type: 'text/plain' });
  for (const name of ['a.txt', 'b.txt']) await thread.composer.addAttachment(file(name));
  thread.composer.setText('Both');
  thread.composer.send();
  const last = () => thread.getState().messages.at(-2);
  const messageOf = (text: string) => until(() => JSON.stringify(last() ?? '').includes(text));
  await messageOf('Both');
  const { composer } = thread.getMessageById(last()!.id);
  composer.beginEdit();
  await composer.getAttachmentByIndex(0).remove();
  await composer.addAttachment(file('c.txt'));
  composer.setText('Edited');
  composer.send();
  await messageOf('Edited');
  const { attachments = [] } = last()!;
  const asked = chat.getSnapshot().events.filter(({ author }) => author === 'user');
  const texts = asked.at(-1)?.content?.parts?.map(({ text }) => text);
  await service.close();
  return [attachments.map(({ type, name }) => [type, name]), texts, errors];
}

const service = openSessionService({ storage: 'memory' });
const sessions = { service, appName: 'chat', userId: 'me', agentName: 'guide' };
const { agentName, ...list } = sessions;
const threads = sessionThreadList(list);

const model: ChatModelAdapter = {
  async run() {
    const call = { toolCallId: 'c1', toolName: 'count', args: { what: 'tea' } };
    const argsText = JSON.stringify(call.args);
    return {
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'tool-call', ...call, argsText, result: { count: 3 } },
        { type: 'text', text: 'Three.' },
      ],
    };
  },
};

function Rich() {
  runtime = useRemoteThreadListRuntime({
    adapter: threads,
    runtimeHook: function useThreadRuntime() {
      const aui = useAui();
      const history = useMemo(() => sessionHistory(sessions, () => aui.threadListItem), [aui]);
      return useLocalRuntime(model, { adapters: { history } });
    },
  });
  return <AssistantRuntimeProvider runtime={runtime}>rich</AssistantRuntimeProvider>;
}

/** The messages of the thread that is open, without what differs from run to run. */
const messages = () => runtime.thread.getState().messages.map(shortened);
const shortened = ({ role, content, attachments, status }: ThreadMessage) => [
  role,
  content,
  attachments?.map(({ name, content }) => [name, content]),
  status?.type,
];

/** Waits for the answer to the message with this text. Returns the messages of its branch. */
async function answered(text: string): Promise<unknown[]> {
  await until(() => {
    const [first, last] = messages();
    return JSON.stringify([first]).includes(text) && last?.[3] === 'complete';
  });
  return messages();
}

interface Exchange {
  /** The messages of both branches, as they were shown first, and as a new page shows them. */
  readonly shown: readonly unknown[][];
  readonly loaded: readonly unknown[][];
  readonly branches: readonly number[];
  readonly stored: unknown;
  readonly errors: readonly string[];
}

/** Sends an image and an attachment, gets the result of a tool, and edits the message. */
async function exchange(): Promise<Exchange> {
  show(<Rich />);
  await until(() => runtime !== undefined && !runtime.threads.getState().isLoading);
  const status = { type: 'complete' } as const;
  const attached = [{ type: 'text' as const, text: 'in a file' }];
  const attachments = [{ id: 'a1', type: 'document', name: 'tea.txt', status, content: attached }];
  const question = [
    { type: 'text', text: 'How many?' },
    { type: 'image', image: PIXEL },
  ] as const;
  runtime.thread.append({ role: 'user', content: question, attachments });
  const shown = [await answered('How many?')];
  const edited = [{ type: 'text', text: 'Again' }] as const;
  runtime.thread.append({ parentId: null, role: 'user', content: edited });
  shown.unshift(await answered('Again'));
  const { remoteId = '' } = runtime.threads.mainItem.getState();
  await runtime.threads.mainItem.rename('Counting');
  const open = await service;
  const key = { appName: 'chat', userId: 'me', sessionId: remoteId };
  let session = await open.getSession(key);
  for (; session?.events.length !== 9; session = await open.getSession(key)) await pause();

  show(<Rich />);
  await until(() => runtime.threads.getState().threadIds.includes(remoteId));
  await runtime.threads.switchToThread(remoteId);
  const loaded = [await answered('Again')];
  const edit = runtime.thread.getMessageById(runtime.thread.getState().messages[0]!.id);
  const { branchNumber, branchCount } = edit.getState();
  edit.switchToBranch({ position: 'previous' });
  loaded.push(await answered('How many?'));
  await runtime.threads.mainItem.archive();
  const { title, labels, events = [] } = (await open.getSession(key)) ?? {};
  return {
    shown,
    loaded,
    branches: [branchNumber, branchCount],
    stored: { title, labels, authors: events.map(({ author }) => author) },
    errors,
  };
}

const scenarios = {
  switchAnswers,
  converse,
  openThread,
  end,
  stored,
  exchange,
  attach,
  editAttached,
};
export type AssistantScenarios = typeof scenarios;
exposeScenarios(scenarios);
