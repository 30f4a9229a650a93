// The view beside the chat, or in its place the inspector. What is selected in the inspector is shown in the chat too.

import 'adk-session-wasm/inspector';
import { pageElement } from '../page/element.js';
import { sessions, USER } from '../page/sessions.js';

const inspector = document.createElement('adk-session-inspector');
const TABS = ['agents', 'inspector'] as const;

/** Shows the sessions of the playground. */
export function startInspector(): void {
  Object.assign(inspector, { service: sessions, ...USER });
  inspector.addEventListener('sessionselect', ({ detail: { appName, userId, sessionId } }) => {
    const isOfChat = appName === USER.appName && userId === USER.userId;
    if (isOfChat) location.hash = encodeURIComponent(sessionId);
  });
  pageElement('div', 'inspector').append(inspector);
  for (const name of TABS) {
    const tab = pageElement('button', `tab-${name}`);
    tab.addEventListener('click', () => select(name));
    tab.addEventListener('keydown', ({ key }) => {
      if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
      const other = TABS.find((other) => other !== name) ?? name;
      select(other);
      pageElement('button', `tab-${other}`).focus();
    });
  }
}

function select(selected: (typeof TABS)[number]): void {
  for (const name of TABS) {
    const tab = pageElement('button', `tab-${name}`);
    tab.ariaSelected = String(name === selected);
    tab.tabIndex = name === selected ? 0 : -1;
    pageElement('div', name).hidden = name !== selected;
  }
}

/** Shows a session in the inspector. */
export function inspect(sessionId: string): void {
  inspector.sessionId = sessionId;
}
