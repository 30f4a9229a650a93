/** The playground: a chat with the agents of a tea house, on sessions that this browser keeps. */
import { startChat } from './chat.js';
import { startConversations } from './conversations.js';
import { pageElement } from './page/element.js';
import { startInspector } from './inspector.js';
import { sessions } from './page/sessions.js';
import { startSettings } from './page/settings.js';

startSettings();
startChat();
startInspector();
startConversations();

// Vite defines `env`; its development server sends modules that no worker should keep.
const { PROD } = (import.meta as ImportMeta & { env: { PROD: boolean } }).env;
if (PROD) void navigator.serviceWorker?.register('./service_worker.js');

const { storage } = await sessions;
if (!storage.durable) {
  pageElement('p', 'problem').textContent =
    'This browser keeps no data here: the conversations end with the page.';
}
