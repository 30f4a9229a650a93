// A thread with poisoned prototypes. It reports the failures.
// @ts-check

import { parentPort, workerData } from 'node:worker_threads';
import { fail, freeze, withstand } from './conversation.mjs';

/** @type {{ storage: string, poison: string, names: string[], url?: string, adapter?: string, isReopened?: boolean }} */
const {
  storage,
  poison,
  names,
  url = 'sqlite::memory:',
  adapter = '',
  isReopened = false,
} = workerData;

/** @returns {Promise<import('./conversation.mjs').Subject>} */
async function load() {
  const { createEvent, InMemorySessionService, openSessionService } =
    await import('adk-session-wasm');
  const { DatabaseSessionService } = await import('adk-session-wasm/database');
  const { VertexAiSessionService } = await import('adk-session-wasm/vertex');
  const { mapAdapter } = await import(`data:text/javascript,${encodeURIComponent(adapter)}`);
  const options = {
    projectId: 'my-project',
    location: 'us-central1',
    agentEngineId: '123',
    accessToken: 'a-token',
    baseUrl: url,
  };
  /** @type {Record<string, () => any>} */
  const opens = {
    memory: () => new InMemorySessionService(),
    adapter: () => openSessionService({ storage: mapAdapter() }),
    vertex: () => new VertexAiSessionService(options),
  };
  const open = opens[storage] ?? (() => new DatabaseSessionService(url));
  return { open, createEvent, keepsState: storage === 'vertex' };
}

async function run() {
  if (poison === 'frozenBefore') freeze();
  return withstand(poison, names, await load(), isReopened);
}

// A driver may fail outside of any awaited call.
process.on('uncaughtException', (error) => fail(error));
parentPort?.postMessage(await run().catch((error) => [String(error?.stack ?? error)]));
