// Walks through sessions and events against models: one service walks, and both write.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import {
  findDeletedAppend,
  findLostEvent,
  findLostSession,
} from '../../../js/service/read/walk_model.js';

/** What the tests call in the page. */
export const inPage = { findLost, deleteAndAppend };
type Page = typeof inPage;

export function walks(context: Context): void {
  it('a walk gives each session and each event once, whatever two services write meanwhile', async () => {
    await inTab<Page>(context, async (tab) => {
      const fault = await tab.call('findLost', newName(), 12);
      // Results come as JSON, which has no `undefined`.
      assert.equal(fault ?? undefined, undefined);
    });
  });

  it('deleteSessions keeps a session that got an event after it was listed', async () => {
    await inTab<Page>(context, async (tab) => {
      const fault = await tab.call('deleteAndAppend', newName());
      assert.equal(fault ?? undefined, undefined);
    });
  });
}

/** Runs both models over two services for each seed, and returns what is wrong first. */
async function findLost(name: string, seeds: number): Promise<string | undefined> {
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
async function deleteAndAppend(name: string): Promise<string | undefined> {
  const services = [new IndexedDbSessionService({ name }), new IndexedDbSessionService({ name })];
  const fault = await findDeletedAppend(services);
  for (const service of services) await service.close();
  return fault;
}
