// Keeps the files of the playground, so that it opens without a connection. The files of the framework are kept when
// they are first used.

const CACHE = 'playground';

addEventListener('install', (event) => event.waitUntil(keepPage()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const isOwn = method === 'GET' && new URL(url).origin === location.origin;
  if (isOwn) event.respondWith(respond(event.request));
});

/** Keeps the page and the files that it names. Those of the last version go. */
async function keepPage() {
  const page = await (await fetch('./', { cache: 'no-cache' })).text();
  const files = [...page.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, file]) => file);
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  await cache.addAll(['./', ...files]);
  await skipWaiting();
}

/** What the network has, and without it what was kept. */
async function respond(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}
