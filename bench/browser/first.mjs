// The first call of a page: each side runs in a new page.

import { user } from './stores/user.mjs';

const name = `bench-${crypto.randomUUID()}`;

/** Times loading the script, and the first call: open and put. */
export async function bare() {
  const start = performance.now();
  const { Bare } = await import('./stores/bare.mjs');
  const loaded = performance.now();
  const store = await Bare.open(name, user);
  await store.create(['session'], Date.now());
  const end = performance.now();
  store.close();
  await Bare.drop(name);
  return { load: loaded - start, call: end - loaded };
}

/** Times the same for the package: load the wasm, open and create. */
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

/** Times the first call of a later visit: load the wasm, open the database of the visit before, and read. */
export async function later() {
  const { IndexedDbSessionService } = await import('adk-session-wasm');
  const start = performance.now();
  const service = new IndexedDbSessionService({ name: 'bench-later' });
  await service.getOrCreateSession({ ...user, sessionId: 'session' });
  const end = performance.now();
  await service.close();
  return end - start;
}

/**
 * Times what a later visit takes to its first read, with the loading of the script.
 *
 * @param {() => Promise<typeof import('adk-session-wasm/slim')>} load
 */
async function firstRead(load) {
  const start = performance.now();
  const { IndexedDbSessionService } = await load();
  const service = new IndexedDbSessionService({ name: 'bench-later' });
  await service.getSession({ ...user, sessionId: 'session' });
  const end = performance.now();
  await service.close();
  return end - start;
}

/** Times the first read with the wasm as text inside the JavaScript. */
export function readInline() {
  return firstRead(() => import('adk-session-wasm'));
}

/** Times the first read with the wasm in a file of its own, compiled while it comes. */
export function readStreaming() {
  return firstRead(async () => {
    const compiling = WebAssembly.compileStreaming(globalThis.fetch('/adk_session_wasm_bg.wasm'));
    const slim = await import('adk-session-wasm/slim');
    await slim.loadWasm(compiling);
    return slim;
  });
}
