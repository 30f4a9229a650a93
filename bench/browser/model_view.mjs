// The model's view of a long history over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { modelView } from '../model_view.mjs';

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export async function viewOfModel() {
  const name = `bench-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name });
  try {
    return await modelView('IndexedDB', service);
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}
