// One conversation, as it is stored now: whoever changes it, this tab or another.

import type { Event, Part } from 'adk-session-wasm';
import { type LiveSession, liveSession, type LiveSessionSnapshot } from 'adk-session-wasm/live';
import { take } from './agents/take.js';
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

let chat: LiveSession | undefined;
let stop = (): void => undefined;

/**
 * Shows a conversation instead of the one before.
 *
 * @throws SessionError `invalid_argument` if no session can have the id
 */
export function showChat(sessionId: string): void {
  stop();
  chat = undefined;
  messages.replaceChildren();
  chat = liveSession(sessions, { ...USER, sessionId }, { window: 50 });
  stop = chat.subscribe(show);
}

/** Lets the user write, rename the conversation, and read what is older. */
export function startChat(): void {
  title.addEventListener('change', () => void chat?.rename(title.value || null).catch(report));
  older.addEventListener('click', () => void chat?.loadOlder().catch(report));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = new FormData(form).get('text');
    form.reset();
    if (typeof text === 'string') send(text);
  });
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
  if (chat === undefined) return;
  const { key } = chat;
  const asked = chat;
  problem.textContent = '';
  form.ariaBusy = 'true';
  take({ key, text, settings: currentSettings(), onPartial: (event) => void asked.send(event) })
    .catch(report)
    .finally(() => {
      asked.discardDrafts();
      form.ariaBusy = 'false';
    });
}

let lastEventId: string | undefined;

function show({ events, drafts, hasOlder, title: text = '', status }: LiveSessionSnapshot): void {
  older.hidden = !hasOlder;
  title.disabled = status !== 'ready';
  if (document.activeElement !== title) title.value = text;
  messages.replaceChildren(...[...events, ...drafts].flatMap(itemsOf));
  const newest = drafts.at(-1)?.id ?? events.at(-1)?.id;
  if (newest !== lastEventId || drafts.length > 0) messages.scrollTop = messages.scrollHeight;
  lastEventId = newest;
}

/** An event that has not changed is the same object, and keeps its element. */
const itemOfEvent = new WeakMap<Event, HTMLLIElement>();

function itemsOf(event: Event): HTMLLIElement[] {
  const parts = event.content?.parts ?? [];
  if (parts.length === 0) return [];
  const item = itemOfEvent.get(event) ?? itemOf(event, parts);
  itemOfEvent.set(event, item);
  return [item];
}

function itemOf({ author = '', partial = false }: Event, parts: readonly Part[]): HTMLLIElement {
  const kind = partial ? 'draft' : 'stored';
  const from = author === 'user' ? 'guest' : 'agent';
  return element(
    'li',
    { className: `${kind} ${from}` },
    element('b', { textContent: author }),
    ...parts.map((part) => element('span', spanOf(part))),
  );
}

function spanOf({ text, functionCall, functionResponse }: Part) {
  if (functionCall !== undefined) {
    const { name = '', args = {} } = functionCall;
    return { className: 'tool', textContent: `calls ${name} ${JSON.stringify(args)}` };
  }
  if (functionResponse !== undefined) {
    const { name = '', response = {} } = functionResponse;
    return { className: 'tool', textContent: `${name} returns ${JSON.stringify(response)}` };
  }
  return { textContent: text ?? '' };
}
