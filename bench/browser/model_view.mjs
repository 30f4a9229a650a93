// Views of long histories over IndexedDB.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { modelView } from '../model_view.mjs';
import { rewoundView } from '../rewound_view.mjs';

export const viewOfModel = () => overIndexedDb((service) => modelView('IndexedDB', service));

export const viewAfterRewind = () => overIndexedDb((service) => rewoundView('IndexedDB', service));

/**
 * @param {(service: IndexedDbSessionService) => Promise<import('../measure.mjs').Result[]>} measure
 */
async function overIndexedDb(measure) {
  const name = `bench-${crypto.randomUUID()}`;
  const service = new IndexedDbSessionService({ name });
  try {
    return await measure(service);
  } finally {
    await service.close();
    await IndexedDbSessionService.deleteDatabase(name);
  }
}
