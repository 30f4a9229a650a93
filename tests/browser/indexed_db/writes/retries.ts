// Events that are appended again, of whose deltas a later write has superseded keys.

import { it } from 'node:test';
import { createEvent, IndexedDbSessionService, State } from 'adk-session-wasm';
import { assertUnchanged } from '../../../js/service/fixture.js';
import {
  SUPERSEDED,
  type RetryReport,
  retrySuperseded,
} from '../../../js/service/append/superseded_retries.js';
import { type Context, inTab, newName } from '../context.js';

/** What the tests call in the page. */
export const inPage = { retry };
type Page = typeof inPage;

export function retries(context: Context): void {
  for (const scene of SUPERSEDED) {
    it(`a retry changes nothing if a later write has superseded keys of an event ${scene}`, async () => {
      await inTab<Page>(context, async (tab) => {
        assertUnchanged(await tab.call('retry', newName(), scene));
      });
    });
  }
}

async function retry(name: string, scene: string): Promise<RetryReport> {
  const service = new IndexedDbSessionService({ name });
  try {
    return await retrySuperseded(service, { State, createEvent }, scene);
  } finally {
    await service.close();
  }
}
