// Lists by title and labels, against a model.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { type Difference, findDifference } from '../../../js/service/read/list_model.js';

/** What the tests call in the page. */
export const inPage = { compareLists };
type Page = typeof inPage;

export function filteredLists(context: Context): void {
  it('a list by title and labels has what a model has, whatever two services wrote before', async () => {
    await inTab<Page>(context, async (tab) => {
      const difference = await tab.call('compareLists', newName(), 12);
      // Results come as JSON, which has no `undefined`.
      assert.equal(difference ?? undefined, undefined);
    });
  });
}

/** Runs the model over two services for each seed, and returns the first difference. */
async function compareLists(
  name: string,
  seeds: number,
): Promise<(Difference & { seed: number }) | undefined> {
  for (let seed = 0; seed < seeds; seed += 1) {
    let now = 1_700_000_000_000;
    const options = { name: `${name} ${seed}`, autoTitle: true, clock: () => now };
    const services = [new IndexedDbSessionService(options), new IndexedDbSessionService(options)];
    const difference = await findDifference(services, seed, (ms) => (now += ms));
    for (const service of services) await service.close();
    if (difference !== undefined) return { ...difference, seed };
  }
  return undefined;
}
