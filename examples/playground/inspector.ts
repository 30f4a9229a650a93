// The inspector beside the chat. What is selected in one of them is shown in both.

import 'adk-session-wasm/inspector';
import { pageElement } from './page/element.js';
import { sessions, USER } from './page/sessions.js';

const inspector = document.createElement('adk-session-inspector');

/** Shows the sessions of the playground. */
export function startInspector(): void {
  Object.assign(inspector, { service: sessions, ...USER });
  inspector.addEventListener('sessionselect', ({ detail: { appName, userId, sessionId } }) => {
    const isOfChat = appName === USER.appName && userId === USER.userId;
    if (isOfChat) location.hash = encodeURIComponent(sessionId);
  });
  pageElement('aside', 'inspector').append(inspector);
}

/** Shows a session in the inspector. */
export function inspect(sessionId: string): void {
  inspector.sessionId = sessionId;
}
