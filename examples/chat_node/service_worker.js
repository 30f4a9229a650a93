// Keeps the files of the page, so that it opens without its server. The build declares `FILES` before this text.
addEventListener('install', (event) => {
  const keep = async () => (await caches.open('page')).addAll(FILES);
  event.waitUntil(keep().then(() => skipWaiting()));
});
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (!FILES.includes(pathname)) return;
  event.respondWith(fetch(event.request).catch(() => caches.match(pathname)));
});
