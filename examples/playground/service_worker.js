// Keeps the files of the playground, so that it opens without a connection. The files of the framework are kept when
// they are first used. The build declares `FILES`, the paths of the other files, before this text.

const CACHE = 'playground';

addEventListener('install', (event) => event.waitUntil(keepFiles()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const isOwn = method === 'GET' && new URL(url).origin === location.origin;
  if (isOwn) event.respondWith(respond(event.request));
});

/** Keeps all files. Those of the last version go. */
async function keepFiles() {
  const cache = await caches.open(CACHE);
  const requests = FILES.map((file) => new Request(file, { cache: 'no-cache' }));
  await cache.addAll(requests);
  const urls = new Set(requests.map(({ url }) => url));
  for (const kept of await cache.keys()) if (!urls.has(kept.url)) await cache.delete(kept);
  await skipWaiting();
}

/** What the network has, and without it what was kept. */
async function respond(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    // There may be no room for it. The page gets it in any case.
    if (response.ok) await cache.put(request, response.clone()).catch(() => undefined);
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}
