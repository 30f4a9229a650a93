// The list of conversations. The address names the one that is shown, so that a reload shows it again.

import { importSession } from 'adk-session-wasm/files';
import { liveSessions } from 'adk-session-wasm/live';
import { inspect } from './beside/inspector.js';
import { showChat } from './chat/chat.js';
import { element, iconButton, pageElement, report } from './page/element.js';
import { newSessionId, sessions, USER } from './page/sessions.js';

const list = liveSessions(sessions, { ...USER, limit: 50 });
const problem = pageElement('p', 'problem');
const drawer = pageElement('nav', 'drawer');

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

/** Lists the conversations, opens them, and lets the user begin, delete and import some. */
export function startConversations(): void {
  const rows = pageElement('ul', 'conversations');
  const show = (): void => {
    const current = currentSession();
    const items = list.getSnapshot().sessions.map((session) => {
      const { id, title = 'Untitled' } = session;
      const link = element('a', { href: `#${encodeURIComponent(id)}`, textContent: title });
      if (id === current) link.ariaCurrent = 'page';
      const onRemove = (): void => void list.remove(session).catch(report);
      const remove = iconButton('remove', `Delete ${title}`, onRemove);
      return element('li', {}, link, remove);
    });
    rows.replaceChildren(...items);
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

/** Imports a session file of any ADK, and shows the session. */
async function importFile(file: File): Promise<void> {
  const { id } = await importSession(await sessions, await file.text(), USER);
  location.hash = encodeURIComponent(id);
}
