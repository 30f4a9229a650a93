// One conversation, as it is stored now: whoever changes it, this tab or another.

import { type LiveSession, liveSession, type LiveSessionSnapshot } from 'adk-session-wasm/live';
import { take } from './agents/take.js';
import { type Branches, itemsOf, type MessageActions, textOf } from './messages.js';
import { element, pageElement, report } from './page/element.js';
import { sessions, USER } from './page/sessions.js';
import { currentSettings } from './page/settings.js';

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
const form = pageElement('form', 'chat');
const field = pageElement('input', 'text');
const cancel = pageElement('button', 'cancel');

let chat: LiveSession | undefined;
let branches: Branches = [];
/** The message that the form edits. */
let edited: string | undefined;
let stop = (): void => undefined;

/**
 * Shows a conversation instead of the one before.
 *
 * @throws SessionError `invalid_argument` if no session can have the id
 */
export function showChat(sessionId: string): void {
  stop();
  chat = undefined;
  branches = [];
  messages.replaceChildren();
  edit(undefined);
  chat = liveSession(sessions, { ...USER, sessionId }, { window: 50 });
  stop = chat.subscribe(show);
}

/** Lets the user write, rename the conversation, and read what is older. */
export function startChat(): void {
  title.addEventListener('change', () => void chat?.rename(title.value || null).catch(report));
  older.addEventListener('click', () => void chat?.loadOlder().catch(report));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { value: text } = field;
    const asked = chat;
    const eventId = edited;
    edit(undefined);
    if (asked === undefined || eventId === undefined) return send(text);
    // The agents store the message themselves.
    void asked
      .edit(eventId, { role: 'user', parts: [{ text }] }, { storedBy: 'agent' })
      .then(() => answer(asked, text))
      .catch(report);
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
  if (chat !== undefined) answer(chat, text);
}

/** Lets the agents answer. `edit`, `regenerate` and `switchBranch` abort that. */
function answer(asked: LiveSession, text: string): void {
  problem.textContent = '';
  form.ariaBusy = 'true';
  const run = asked.run(async (signal) => {
    const onPartial: Parameters<typeof take>[0]['onPartial'] = (event) => {
      signal.throwIfAborted();
      asked.send(event).catch(report);
    };
    try {
      await take({ key: asked.key, text, settings: currentSettings(), onPartial });
    } catch (error) {
      if (!signal.aborted) report(error);
    }
  });
  void run.finally(() => {
    asked.discardDrafts();
    form.ariaBusy = 'false';
  });
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
  regenerate({ id }) {
    const asked = chat;
    void asked
      ?.regenerate(id, { storedBy: 'agent' })
      .then(({ content }) => answer(asked, textOf(content)))
      .catch(report);
  },
  switchBranch: (branch) => void chat?.switchBranch(branch).catch(report),
};

let lastEventId: string | undefined;

function show(snapshot: LiveSessionSnapshot): void {
  const { events, drafts, hasOlder, title: text = '', status } = snapshot;
  older.hidden = !hasOlder;
  title.disabled = status !== 'ready';
  if (document.activeElement !== title) title.value = text;
  messages.replaceChildren(...itemsOf([...events, ...drafts], branches, actions));
  const newest = drafts.at(-1)?.id ?? events.at(-1)?.id;
  if (newest !== lastEventId || drafts.length > 0) messages.scrollTop = messages.scrollHeight;
  lastEventId = newest;
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
