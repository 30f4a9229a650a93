/** The page of the offline chat. It works without a connection, and after a reload without one. */
import type { Event } from 'adk-session-wasm';
import { CachedSessionService } from 'adk-session-wasm/cache';
import { liveSession } from 'adk-session-wasm/live';
import { RemoteSessionService } from 'adk-session-wasm/remote';

interface Registration extends ServiceWorkerRegistration {
  readonly sync?: { register(tag: string): Promise<void> };
}

const userId = new URLSearchParams(location.search).get('user') ?? 'guest';
const remote = new RemoteSessionService({ url: '/api', headers: { 'x-user': userId } });
const cache = new CachedSessionService({ remote, owner: userId });
const key = { appName: 'chat', userId, sessionId: 'first' };
const chat = liveSession(cache, key);

const list = document.createElement('ol');
const state = document.createElement('p');
const form = document.createElement('form');
const input = document.createElement('input');
input.name = 'text';
form.append(input);
document.body.append(list, form, state);

function lineOf({ author, content }: Event): HTMLElement {
  const line = document.createElement('li');
  line.textContent = `${author}: ${(content?.parts ?? []).map(({ text }) => text ?? '').join('')}`;
  return line;
}

async function send(text: string): Promise<void> {
  const content = { role: 'user', parts: [{ text }] };
  // Resolves when the message is stored on this device. It is sent when there is a connection.
  await chat.send({ author: 'user', invocationId: crypto.randomUUID(), content });
  // The service worker sends it if the page is closed before. Only Chromium has this.
  const { sync } = (await navigator.serviceWorker.ready) as Registration;
  await sync?.register(userId).catch(() => undefined);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send(input.value);
  input.value = '';
});

// Called after each change of the session, from whichever tab or device.
chat.subscribe(({ events }) => list.replaceChildren(...events.map(lineOf)));

cache.watchStatus(({ isOnline, pending }) => {
  const waiting = pending.reduce((sum, { events }) => sum + events, 0);
  state.textContent = `${isOnline ? 'online' : 'offline'}, ${waiting} waiting`;
});

await navigator.serviceWorker.register('/service_worker.js');
// While there is a connection: a session that this device has never seen cannot be opened without one.
await cache.getOrCreateSession(key);
