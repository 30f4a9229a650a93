/** The playground: a chat with the agents of a tea house, on sessions that this browser keeps. */
import { startAgentView, viewAgents } from './beside/agent_view.js';
import { startInspector } from './beside/inspector.js';
import { startChat } from './chat/chat.js';
import { startConversations } from './conversations.js';
import { hasBrowserModel } from './models/browser_model.js';
import { pageElement } from './page/element.js';
import { sessions } from './page/sessions.js';
import { startSettings } from './page/settings.js';

startSettings(hasBrowserModel);
startAgentView();
startChat(viewAgents);
startInspector();
startConversations();

// Vite defines `env`; its development server sends modules that no worker should keep.
const { PROD } = (import.meta as ImportMeta & { env: { PROD: boolean } }).env;
if (PROD) void navigator.serviceWorker?.register(workerUrl());

const { storage } = await sessions;
if (!storage.durable) {
  pageElement('p', 'problem').textContent =
    'This browser keeps no data here: the conversations end with the page.';
}

/** The policy of the page takes the URL of a worker only as a trusted type, where the browser has these. */
function workerUrl(): string {
  const url = './service_worker.js';
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy('playground', { createScriptURL: () => url }).createScriptURL(url) ?? url; // prettier-ignore
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(): string },
  ): { createScriptURL(url: string): string };
}
