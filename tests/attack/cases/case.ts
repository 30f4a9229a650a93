// Cases, each repeatable by its seed. Several share a pair of sessions, because creating these costs more than a case.

import type { BaseSessionService, Session } from 'adk-session-wasm';
import { attackAppend } from './append_attack.js';
import { freshId } from './events.js';
import { must, present, requireCleanPrototypes } from './oracle.js';
import { Random } from './random.js';
import { attackRequest, attackState } from './request_attack.js';
import { attackConcurrently, attackRetry } from './retry_attack.js';
import { textEvent, type Target, World } from './world.js';

const CASES_PER_WORLD = 6;

const ATTACKS = [
  ...[attackAppend, attackAppend, attackAppend, attackAppend, attackRequest, attackState],
  ...[attackState, attackRetry, attackConcurrently],
];

/** The first seed that shares its sessions with this seed. */
export function firstSeedOfWorld(seed: number): number {
  return seed - ((seed - 1) % CASES_PER_WORLD);
}

/** Runs cases on one service, in the order of their seeds. */
export class CaseRunner {
  #world: World | undefined;
  #handle: Session | undefined;

  constructor(
    readonly service: BaseSessionService,
    readonly target: Target,
  ) {}

  async run(seed: number): Promise<void> {
    if (firstSeedOfWorld(seed) === seed) await this.end();
    if (this.#world === undefined || this.#world.needsNewSessions) {
      await this.end();
      this.#world = new World(this.service, this.target, new Random(seed));
      this.#handle = await this.#world.begin();
    }
    const world = this.#world;
    world.random = new Random(seed);
    await world.random.pick(ATTACKS)(world, present(this.#handle));
    this.#handle = await requireNextCallWorks(world);
    requireCleanPrototypes();
  }

  /** Deletes the sessions. */
  async end(): Promise<void> {
    const world = this.#world;
    this.#world = undefined;
    if (world === undefined) return;
    await world.requireOtherUntouched();
    await world.end();
  }
}

/** @returns a handle that no case has touched */
async function requireNextCallWorks(world: World): Promise<Session> {
  const { service, key } = world;
  const session = present(await service.getSession(key));
  const event = textEvent(freshId());
  await service.appendEvent({ session, event });
  const stored = present(await world.readAgain()).events;
  const times = stored.filter((one) => (one as { id: string }).id === event.id).length;
  must(times === 1, 'The next append is stored once.', stored);
  return session;
}
