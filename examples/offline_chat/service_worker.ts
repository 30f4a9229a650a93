/** Keeps the files of the offline chat, and sends what waits when the connection is back, also without a page. */
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

const FILES = ['/', '/page.js'];

/** The part of a service worker's events that is used here. */
interface WorkerEvent extends Event {
  readonly request: Request;
  /** The name of a Background Sync: the user whose messages wait. */
  readonly tag: string;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const worker = globalThis as unknown as {
  addEventListener(
    type: 'install' | 'fetch' | 'sync',
    listener: (event: WorkerEvent) => void,
  ): void;
};

worker.addEventListener('install', (event) => {
  const keep = async (): Promise<void> => (await caches.open('chat')).addAll(FILES);
  event.waitUntil(keep());
});

worker.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (!FILES.includes(pathname)) return;
  const respond = async (): Promise<Response> => {
    const kept = await caches.match(pathname);
    return fetch(event.request).catch((error: unknown) => kept ?? Promise.reject(error as Error));
  };
  event.respondWith(respond());
});

worker.addEventListener('sync', (event) => event.waitUntil(send(event.tag)));

/** If it rejects, the browser tries again later. */
async function send(userId: string): Promise<void> {
  const remote = new RemoteSessionService({ url: '/api', headers: { 'x-user': userId } });
  const cache = new CachedSessionService({ remote, owner: userId });
  try {
    await cache.sync();
  } finally {
    await cache.close();
    await remote.close();
  }
}
