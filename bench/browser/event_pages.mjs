// Pages of the events of a long session over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { eventPages } from '../event_pages.mjs';

/** @returns {Promise<import('../measure.mjs').Result>} */
export async function pagesOfEvents() {
  const name = `bench-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name });
  try {
    return await eventPages('IndexedDB', service);
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}
