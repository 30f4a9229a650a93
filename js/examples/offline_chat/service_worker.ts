/** Keeps the files of the offline chat, so that the page opens without a connection. */
const FILES = ['/', '/page.js'];

/** The part of a service worker's events that is used here. */
interface WorkerEvent extends Event {
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const worker = globalThis as unknown as {
  addEventListener(type: 'install' | 'fetch', listener: (event: WorkerEvent) => void): void;
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
