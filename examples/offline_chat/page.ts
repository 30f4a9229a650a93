/** The page of the offline chat. It works without a connection, and after a reload without one. */
import type { Event, Session } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

interface Registration extends ServiceWorkerRegistration {
  readonly sync?: { register(tag: string): Promise<void> };
}

const userId = new URLSearchParams(location.search).get('user') ?? 'guest';
const key = { appName: 'chat', userId, sessionId: 'first' };
const remote = new RemoteSessionService({ url: '/api', headers: { 'x-user': userId } });
const cache = new CachedSessionService({ remote, owner: userId });

const list = document.createElement('ol');
const state = document.createElement('p');
const form = document.createElement('form');
const input = document.createElement('input');
input.name = 'text';
form.append(input);
document.body.append(list, form, state);

function textOf({ author, content }: Event): string {
  return `${author}: ${(content?.parts ?? []).map(({ text }) => text ?? '').join('')}`;
}

function show({ events }: Session): void {
  const lines = events.map((event) => {
    const line = document.createElement('li');
    line.textContent = textOf(event);
    return line;
  });
  list.replaceChildren(...lines);
}

async function send(text: string): Promise<void> {
  const session = await cache.getOrCreateSession(key);
  const content = { role: 'user', parts: [{ text }] };
  const event = { author: 'user', invocationId: crypto.randomUUID(), content };
  // Resolves when the message is stored on this device. It is sent when there is a connection.
  await cache.appendEvent({ session, event });
  // The service worker sends it if the page is closed before. Only Chromium has this.
  const { sync } = (await navigator.serviceWorker.ready) as Registration;
  await sync?.register(userId).catch(() => undefined);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send(input.value);
  input.value = '';
});

cache.watchStatus(({ isOnline, pending }) => {
  const waiting = pending.reduce((sum, { events }) => sum + events, 0);
  state.textContent = `${isOnline ? 'online' : 'offline'}, ${waiting} waiting`;
});

/** Shows the session after each change of the copy, from whichever tab or device. */
async function follow(): Promise<void> {
  const notices = cache.watch(key);
  show(await cache.getOrCreateSession(key));
  for await (const { type } of notices) {
    const session = await cache.getSession({ ...key, config: { reads: 'cache-only' } });
    if (type !== 'deleted' && session !== undefined) show(session);
  }
}

await Promise.all([navigator.serviceWorker.register('/service_worker.js'), follow()]);
