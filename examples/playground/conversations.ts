// The list of conversations, and a search in what was said in them. The address names the one that is shown, so that a reload shows it again.

import { importSession } from 'adk-session-wasm/files';
import { type LiveSearch, liveSearch, liveSessions } from 'adk-session-wasm/live';
import { inspect } from './beside/inspector.js';
import { showChat } from './chat/chat.js';
import { element, iconButton, pageElement, report } from './page/element.js';
import { newSessionId, sessions, USER } from './page/sessions.js';

const list = liveSessions(sessions, { ...USER, limit: 50 });
const problem = pageElement('p', 'problem');
const drawer = pageElement('nav', 'drawer');

/** The milliseconds for which what was typed has stayed the same before it is searched. */
const TYPING_MS = 150;

/** The session that the address names; a new one if it names none. */
export function currentSession(): string {
  if (location.hash.length < 2) history.replaceState(null, '', `#${newSessionId()}`);
  const encoded = location.hash.slice(1);
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Others may write a link with a bare `%`.
    return encoded;
  }
}

/** Lists and finds the conversations, opens them, and lets the user begin, delete and import some. */
export function startConversations(): void {
  const rows = pageElement('ul', 'conversations');
  let search: LiveSearch | undefined;
  const show = (): void => {
    rows.replaceChildren(...(search === undefined ? conversationRows() : hitRows(search)));
  };
  const open = (): void => {
    problem.textContent = '';
    // On a phone the list lies over the chat.
    if (drawer.matches(':popover-open')) drawer.hidePopover();
    try {
      showChat(currentSession());
      inspect(currentSession());
    } catch (error) {
      // An address may name a session with an id that no service takes.
      report(error);
    }
    show();
  };
  list.subscribe(show);
  startSearch((started) => {
    search = started;
    show();
  });
  addEventListener('hashchange', open);
  open();

  pageElement('button', 'new').addEventListener('click', () => {
    location.hash = newSessionId();
  });
  const file = pageElement('input', 'file');
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? [];
    if (chosen !== undefined) void importFile(chosen).catch(report);
    file.value = '';
  });
}

/** Searches for what is typed. Calls back with each search, whenever its hits change, and with `undefined` without one. */
function startSearch(onSearch: (search: LiveSearch | undefined) => void): void {
  const field = pageElement('input', 'find');
  let typing: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  const start = (): void => {
    stop?.();
    stop = undefined;
    const query = field.value.trim();
    if (query === '') return onSearch(undefined);
    const search = liveSearch(sessions, { ...USER, query });
    stop = search.subscribe(() => onSearch(search));
    onSearch(search);
  };
  field.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(start, TYPING_MS);
  });
}

function conversationRows(): HTMLLIElement[] {
  return list.getSnapshot().sessions.map((session) => {
    const { id, title = 'Untitled' } = session;
    const onRemove = (): void => void list.remove(session).catch(report);
    return element('li', {}, linkTo(id, title), iconButton('remove', `Delete ${title}`, onRemove));
  });
}

function hitRows(search: LiveSearch): HTMLLIElement[] {
  const { status, error, hits } = search.getSnapshot();
  if (error !== undefined) report(error);
  if (status === 'ready' && hits.length === 0) return [element('li', {}, 'Nothing found')];
  return hits.map(({ sessionId, eventId, title, snippet }) => {
    const text = snippet.map((part) => (part.isHit ? element('mark', {}, part.text) : part.text));
    const head = eventId === undefined ? [] : [element('small', {}, title ?? 'Untitled')];
    const link = linkTo(sessionId, ...head, element('span', {}, ...text));
    link.className = 'hit';
    return element('li', {}, link);
  });
}

/** Makes a link to a conversation. */
function linkTo(id: string, ...children: readonly (Node | string)[]): HTMLAnchorElement {
  const link = element('a', { href: `#${encodeURIComponent(id)}` }, ...children);
  if (id === currentSession()) link.ariaCurrent = 'page';
  return link;
}

/** Imports a session file of any ADK, and shows the session. */
async function importFile(file: File): Promise<void> {
  const { id } = await importSession(await sessions, await file.text(), USER);
  location.hash = encodeURIComponent(id);
}
