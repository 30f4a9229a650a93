// Lists by title and labels, against a model.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Difference, findDifference } from '../../../../js/read/list_model.js';

/** Runs the model over two services for each seed, and returns the first difference. */
export async function compareLists(
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
