// Creating, importing and appending a long session over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { bookkeeping } from '../bookkeeping.mjs';
import { creations } from '../creations.mjs';
import { imports } from '../imports.mjs';

/** Chromium takes about twice as long for a batch of a long session, with the same requests. Quadratic time would be 8 times. */
const MOST = 2.5;

export async function longImports() {
  return [
    ...(await creations('IndexedDB', withService)),
    ...(await imports('IndexedDB', withService, MOST)),
  ];
}

export function appendsWithTitle() {
  return withService((service) => bookkeeping('IndexedDB', service));
}

/**
 * @template T
 * @param {(service: IndexedDbSessionService) => Promise<T>} run
 */
async function withService(run) {
  const name = `bench-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name });
  try {
    await service.ping();
    return await run(service);
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}
