// A thread of its own, whose prototypes are poisoned; it tells what went wrong.
// @ts-check

import { parentPort, workerData } from 'node:worker_threads';
import { freeze, withstand } from './conversation.mjs';

/** @type {{ storage: string, poison: string, names: string[], adapter: string, isReopened: boolean, apart: string[] }} */
const { storage, poison, names, adapter, isReopened, apart } = workerData;

/** @returns {Promise<import('./conversation.mjs').Opened>} */
async function load() {
  const { createEvent, InMemorySessionService, openSessionService } =
    await import('adk-session-wasm');
  const { DatabaseSessionService } = await import('adk-session-wasm/database');
  const { mapAdapter } = await import(`data:text/javascript,${encodeURIComponent(adapter)}`);
  /** @type {Record<string, () => any>} */
  const opens = {
    memory: () => new InMemorySessionService(),
    adapter: () => openSessionService({ storage: mapAdapter() }),
    sqlite: () => new DatabaseSessionService('sqlite::memory:'),
  };
  return { open: /** @type {() => any} */ (opens[storage]), createEvent };
}

async function run() {
  if (poison === 'frozenBefore') freeze();
  return withstand(poison, names, await load(), isReopened, apart);
}

parentPort?.postMessage(await run().catch((error) => [String(error?.stack ?? error)]));
