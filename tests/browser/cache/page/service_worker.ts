/** Sends what waits in a cache when the connection is back, also without a page. */
import { CachedSessionService } from 'adk-session-wasm/cache';
import { RemoteSessionService } from 'adk-session-wasm/remote';

/** The part of the event `sync` that is used here. */
interface SyncEvent extends Event {
  /** The URL of the sessions, and the user whose changes wait. */
  readonly tag: string;
  waitUntil(work: Promise<unknown>): void;
}

addEventListener('sync', (event) => {
  const { tag } = event as SyncEvent;
  (event as SyncEvent).waitUntil(send(...(tag.split(' ') as [string, string])));
});

/** If it rejects, the browser tries again later. */
async function send(url: string, owner: string): Promise<void> {
  const remote = new RemoteSessionService({ url, headers: { 'x-user': owner } });
  const cache = new CachedSessionService({ remote, owner });
  try {
    await cache.sync();
  } finally {
    await cache.close();
    await remote.close();
  }
}
