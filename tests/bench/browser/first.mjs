// The first call of a page: each side in a page that has done nothing yet.

import { user } from './user.mjs';

const name = `bench-${crypto.randomUUID()}`;

/** How long the script's loading takes, and the first call: open and put. */
export async function bare() {
  const start = performance.now();
  const { Bare } = await import('./bare.mjs');
  const loaded = performance.now();
  const store = await Bare.open(name, user);
  await store.create(['session'], Date.now());
  const end = performance.now();
  store.close();
  await Bare.drop(name);
  return { load: loaded - start, call: end - loaded };
}

/** The same: load the wasm, open and create. */
export async function ours() {
  const start = performance.now();
  const { IndexedDbSessionService } = await import('adk-session-wasm');
  const loaded = performance.now();
  const service = new IndexedDbSessionService({ name, durability: 'relaxed' });
  await service.createSession({ ...user, sessionId: 'session' });
  const end = performance.now();
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name);
  return { load: loaded - start, call: end - loaded };
}
