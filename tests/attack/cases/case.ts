// The cases of a target: attacks on one session after the other, with the same service.

import type { SessionService } from 'adk-session-wasm';
import fc from 'fast-check';
import { attackAppend } from './append_attack.js';
import { names } from './ids.js';
import { requireCleanPrototypes } from './oracle.js';
import { attackRequest, attackState } from './request_attack.js';
import { attackConcurrently, attackRetry } from './retry_attack.js';
import { type Target, World } from './world.js';

/** Several attacks share a pair of sessions, because creating these costs more than an attack. */
const MOST_ATTACKS = 11;

const attacks = fc.oneof(
  { weight: 4, arbitrary: attackAppend },
  { weight: 1, arbitrary: attackRequest },
  { weight: 2, arbitrary: attackState },
  { weight: 1, arbitrary: attackRetry },
  { weight: 1, arbitrary: attackConcurrently },
);

/** @param requireNoUncaught throws if an error was thrown that no call has caught */
export function attacksOn(
  service: SessionService,
  target: Target,
  requireNoUncaught: () => Promise<void> | void,
) {
  const list = fc.array(attacks, { maxLength: MOST_ATTACKS, size: 'max' });
  return fc.asyncProperty(names(target), list, async (names, attacks) => {
    let world: World | undefined;
    for (const attack of attacks) {
      world ??= await World.begin(service, target, names);
      await attack(world);
      await world.requireNextCallWorks();
      requireCleanPrototypes();
      if (!world.needsNewSessions) continue;
      await world.end();
      world = undefined;
    }
    await world?.end();
    await requireNoUncaught();
  });
}
