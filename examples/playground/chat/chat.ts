// One conversation, as it is stored now: whoever changes it, this tab or another.

import { fork } from 'adk-session-wasm/history';
import { type LiveSession, liveSession, type LiveSessionSnapshot } from 'adk-session-wasm/live';
import { run } from '../agents/answer.js';
import { element, pageElement, report, setChildren } from '../page/element.js';
import { sessions, USER } from '../page/sessions.js';
import { currentSettings } from '../page/settings.js';
import { type Branches, itemsOf, type MessageActions, textOf } from './messages.js';

/** What the scripted models understand. */
const SUGGESTIONS = {
  loop: ['I would like something mild', 'Rather something strong', 'Now something cold'],
  adk: [
    'I am Ada. What do you have for the evening?',
    'I take one of those, please.',
    'Please cancel my order.',
  ],
};

const messages = pageElement('ol', 'messages');
const title = pageElement('input', 'title');
const older = pageElement('button', 'older');
const problem = pageElement('p', 'problem');
const status = pageElement('p', 'status');
const form = pageElement('form', 'chat');
const field = pageElement('textarea', 'text');
const cancel = pageElement('button', 'cancel');

let chat: LiveSession | undefined;
let branches: Branches = [];
/** The message that the form edits. */
let edited: string | undefined;
/** The failed run that was reported. */
let failed: LiveSessionSnapshot['run'];
let stop = (): void => undefined;
let onChat: (opened: LiveSession) => () => void = () => stop;

/**
 * Shows a conversation instead of the one before.
 *
 * @throws SessionError `invalid_argument` if no session can have the id
 */
export function showChat(sessionId: string): void {
  stop();
  stop = () => undefined;
  chat = undefined;
  branches = [];
  messages.replaceChildren();
  edit(undefined);
  showStatus();
  const opened = liveSession(sessions, { ...USER, sessionId }, { window: 50, run });
  chat = opened;
  const stops = [opened.subscribe(show), onChat(opened)];
  stop = () => stops.forEach((end) => end());
}

/**
 * Lets the user write, rename the conversation, and read what is older.
 *
 * @param onOpened called with each conversation that is shown; returns what ends it
 */
export function startChat(onOpened: typeof onChat): void {
  onChat = onOpened;
  title.addEventListener('change', () => void chat?.rename(title.value || null).catch(report));
  older.addEventListener('click', () => void chat?.loadOlder().catch(report));
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { value: text } = field;
    const asked = chat;
    const eventId = edited;
    edit(undefined);
    if (asked === undefined || eventId === undefined) return send(text);
    asked.edit(eventId, { role: 'user', parts: [{ text }] }).catch((error: unknown) => {
      report(error);
      // The edited message is still there. Another text may have been begun.
      if (field.value === '') edit(eventId, text);
    });
  });
  cancel.addEventListener('click', () => edit(undefined));
  suggest();
  pageElement('form', 'settings').addEventListener('input', suggest);
}

function suggest(): void {
  const buttons = SUGGESTIONS[currentSettings().engine].map((text) =>
    element('button', { type: 'button', textContent: text, onclick: () => send(text) }),
  );
  pageElement('p', 'suggestions').replaceChildren(...buttons);
}

function send(text: string): void {
  if (chat !== undefined) attempt(chat, chat.ask({ role: 'user', parts: [{ text }] }));
}

/** Says why a message cannot be stored. It stays in the conversation, and can be sent again. */
function attempt(asked: LiveSession, work: Promise<unknown>): void {
  problem.textContent = '';
  work.catch((error: unknown) => {
    report(error);
    const onclick = (): void => {
      for (const id of Object.keys(asked.getSnapshot().unsent)) attempt(asked, asked.retry(id));
    };
    problem.append(' ', element('button', { type: 'button', textContent: 'Retry', onclick }));
  });
}

/** Says whether agents answer, and which of them writes. */
function showStatus(): void {
  const { run, drafts = [] } = chat?.getSnapshot() ?? {};
  const isAnswering = run?.status === 'running' || run?.status === 'queued';
  form.ariaBusy = String(isAnswering);
  const writer = drafts.at(-1)?.author;
  const writing = writer === undefined ? 'The agents think' : `${writer} writes`;
  const text = isAnswering ? writing : '';
  // A screen reader would say an unchanged text again.
  if (status.textContent !== text) status.textContent = text;
}

/** Puts a message into the form, to be edited; `undefined`: an empty one. */
function edit(eventId: string | undefined, text = ''): void {
  edited = eventId;
  cancel.hidden = eventId === undefined;
  field.value = text;
  if (eventId !== undefined) field.focus();
}

const actions: MessageActions = {
  edit: ({ id, content }) => edit(id, textOf(content)),
  regenerate: ({ id }) => void chat?.regenerate(id).catch(report),
  fork({ id: eventId }) {
    const { key } = chat ?? {};
    if (key === undefined) return;
    void sessions
      .then((service) => fork(service, { ...key, at: { eventId } }))
      .then(({ id }) => (location.hash = encodeURIComponent(id)))
      .catch(report);
  },
  switchBranch: (branch) => void chat?.switchBranch(branch).catch(report),
};

let lastEventId: string | undefined;

function show(snapshot: LiveSessionSnapshot): void {
  const { events, drafts, run, hasOlder, title: text = '', status } = snapshot;
  older.hidden = !hasOlder;
  title.disabled = status !== 'ready';
  if (document.activeElement !== title) title.value = text;
  setChildren(messages, itemsOf([...events, ...drafts], branches, actions));
  const newest = drafts.at(-1)?.id ?? events.at(-1)?.id;
  if (newest !== lastEventId || drafts.length > 0) messages.scrollTop = messages.scrollHeight;
  lastEventId = newest;
  if (run?.status === 'failed' && run !== failed) report(run.error);
  failed = run;
  showStatus();
  if (status === 'ready') void showBranches(snapshot);
}

/** Reads the branches, and shows the messages again if there are others. */
async function showBranches(snapshot: LiveSessionSnapshot): Promise<void> {
  const shown = chat;
  const found = await shown?.branches().catch(() => undefined);
  if (found === undefined || found === branches || shown !== chat) return;
  branches = found;
  show(shown?.getSnapshot() ?? snapshot);
}
