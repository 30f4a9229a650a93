import { isSessionError } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { liveSession } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';

const { VITE_AGENTS: url = 'http://localhost:8000' } = import.meta.env;
// The folder of the agent in Python is the name of the app.
const key = { appName: 'tea_house', userId: 'ada', sessionId: 'tea' };
const remote = new RemoteSessionService({ url });
const cache = new CachedSessionService({ remote, owner: key.userId });
const chat = liveSession(cache, key);

const messages = document.querySelector('ol')!;
const status = document.querySelector('p')!;
const form = document.querySelector('form')!;

/** The answer that is streamed. */
let draft = { author: '', text: '' };

const textOf = (parts: readonly { text?: string }[]) => parts.map(({ text = '' }) => text).join('');

/** Sends a message to the agent. Its events reach the copy when it has answered, and the draft at once. */
async function ask(text: string): Promise<void> {
  // The server must know the session before its agent runs.
  await cache.getOrCreateSession(key);
  await cache.sync(key);
  const newMessage = { role: 'user', parts: [{ text }] };
  try {
    for await (const event of cache.run({ ...key, newMessage, streaming: true })) {
      const pieces = event.partial === true ? (event.content?.parts ?? []) : [];
      draft = { author: event.author ?? '', text: draft.text + textOf(pieces) };
      show();
    }
    await cache.sync(key);
  } finally {
    draft = { author: '', text: '' };
    show();
  }
}

function show(): void {
  const { events, state } = chat.getSnapshot();
  // The agent's change of state is an event without a text.
  const spoken = events.filter(({ content }) => content?.parts?.length);
  const lines = spoken.map(({ author, content }) => ({
    author,
    text: textOf(content?.parts ?? []),
  }));
  const items = [...lines, ...(draft.text === '' ? [] : [draft])].map((line) => {
    const item = document.createElement('li');
    item.className = line === draft ? 'draft' : 'stored';
    item.textContent = `${line.author}: ${line.text}`;
    return item;
  });
  messages.replaceChildren(...items);
  document.title = `${Number(state['user:cups'] ?? 0)} cups of tea`;
}

chat.subscribe(show);

cache.watchStatus(({ isOnline, lastError }) => {
  status.textContent = isOnline ? '' : `Showing the copy: ${lastError?.message ?? 'no connection'}`;
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = String(new FormData(form).get('text'));
  form.reset();
  ask(text).catch((error: unknown) => {
    const isOffline = isSessionError(error, 'connection_lost');
    status.textContent = isOffline ? 'The agents cannot be reached now.' : String(error);
  });
});
