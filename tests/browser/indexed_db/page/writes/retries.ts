// Events that are appended again, of whose deltas a later write has superseded keys.

import { createEvent, IndexedDbSessionService, State } from 'adk-session-wasm';
import { type RetryReport, retrySuperseded } from '../../../../js/append/superseded_retries.js';

export async function retry(name: string, scene: string): Promise<RetryReport> {
  const service = new IndexedDbSessionService({ name });
  try {
    return await retrySuperseded(service, { State, createEvent }, scene);
  } finally {
    await service.close();
  }
}
