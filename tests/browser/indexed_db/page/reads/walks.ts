// Walks through sessions and events against models: one service walks, and both write.

import { IndexedDbSessionService } from 'adk-session-wasm';
import {
  findDeletedAppend,
  findLostEvent,
  findLostSession,
} from '../../../../js/read/walk_model.js';

/** Runs both models over two services for each seed, and returns what is wrong first. */
export async function findLost(name: string, seeds: number): Promise<string | undefined> {
  for (let seed = 0; seed < seeds; seed += 1) {
    const clock = { now: 1_700_000_000_000 };
    const options = { name: `${name} ${seed}`, clock: () => clock.now };
    const services = [new IndexedDbSessionService(options), new IndexedDbSessionService(options)];
    const fault =
      (await findLostSession({ services }, seed, clock)) ?? (await findLostEvent(services, seed));
    for (const service of services) await service.close();
    if (fault !== undefined) return `seed ${seed}, ${fault}`;
  }
  return undefined;
}

/** Deletes sessions by one service while another one appends to them, and returns what is wrong. */
export async function deleteAndAppend(name: string): Promise<string | undefined> {
  const services = [new IndexedDbSessionService({ name }), new IndexedDbSessionService({ name })];
  const fault = await findDeletedAppend(services);
  for (const service of services) await service.close();
  return fault;
}
