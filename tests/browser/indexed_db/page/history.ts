// A page to which the user returns: it is restored from the back/forward cache, or loaded again.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { idsOf, keyOf, mark } from './events.js';
import { Feed } from './feed.js';

let state: { service: IndexedDbSessionService; feed: Feed } | undefined;
let wasRestored = false;

addEventListener('pageshow', ({ persisted }) => {
  if (persisted) wasRestored = true;
});

/** Begins to work, with a feed and an open connection. */
export async function visit(name: string): Promise<void> {
  const service = new IndexedDbSessionService({ name });
  state = { service, feed: new Feed(service, { appName: keyOf('').appName }) };
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('before') });
}

export interface Returned {
  wasRestored: boolean;
  /** Whether the feed yielded it; waited for where the page was restored. */
  resync: boolean;
  events: string[];
}

/** Goes on with what is left of the page. */
export async function comeBack(name: string): Promise<Returned> {
  if (wasRestored !== (state !== undefined))
    throw new Error('the page is neither new nor restored');
  if (state === undefined) await visit(name);
  const { service, feed } = state!;
  const isThere = (): boolean => feed.changes.some(({ type }) => type === 'resync');
  if (wasRestored) await feed.until(isThere);
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark('after') });
  const events = idsOf(await service.getSession(keyOf('one')));
  await feed.until(() => (feed.revisions().one ?? []).length > 0);
  await feed.stop();
  await service.close();
  return { wasRestored, resync: isThere(), events };
}
