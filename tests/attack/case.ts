// One case, which its seed repeats.

import type { BaseSessionService } from 'adk-session-wasm';
import { attackAppend } from './append_attack.js';
import { freshId } from './events.js';
import { must, present, requireCleanPrototypes } from './oracle.js';
import { Random } from './random.js';
import { attackRequest, attackState } from './request_attack.js';
import { attackAtOnce, attackRetry } from './retry_attack.js';
import { said, type Target, World } from './world.js';

export async function runCase(
  service: BaseSessionService,
  target: Target,
  seed: number,
): Promise<void> {
  const random = new Random(seed);
  const world = new World(service, target, random);
  const session = await world.begin();
  const attack = random.pick([attackAppend, attackAppend, attackAppend, attackAppend, attackRequest, attackState, attackState, attackRetry, attackAtOnce]); // prettier-ignore
  await attack(world, session);
  await requireNextCallWorks(world);
  await world.requireOtherUntouched();
  requireCleanPrototypes();
  await world.end();
}

async function requireNextCallWorks(world: World): Promise<void> {
  const { service, key } = world;
  const session = present(await service.getSession(key));
  const event = said(freshId());
  await service.appendEvent({ session, event });
  const stored = (await world.read())?.events ?? [];
  const times = stored.filter((one) => (one as { id: string }).id === event.id).length;
  must(times === 1, 'The next append is stored, once.', stored);
}
