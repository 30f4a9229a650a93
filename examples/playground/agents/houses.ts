// The agents that answer in the playground, as far as the page shows what they were told.

import type { Agent } from '../../agent_loop.js';
import { ADVISE, SPEAK } from '../../demo/instructions.js';
import { host as shopHost } from '../../tea_shop.js';
import type { Settings } from '../page/settings.js';

/** An agent: its name, its template, and the key that gets its answer. */
export type ToldAgent = Pick<Agent, 'name' | 'instruction' | 'outputKey'>;

const HOUSES: Readonly<Record<Settings['engine'], readonly ToldAgent[]>> = {
  loop: [shopHost, ...(shopHost.subAgents ?? [])],
  adk: [
    { name: 'adviser', instruction: ADVISE, outputKey: 'temp:advice' },
    { name: 'host', instruction: SPEAK, outputKey: 'last_answer' },
  ],
};

/**
 * Returns the agents of a turn, in the order in which they run. Both houses have a host, and one conversation may have
 * turns of both.
 *
 * @param authors who wrote the turn's events so far
 */
export function agentsOf(
  authors: ReadonlySet<string>,
  engine: Settings['engine'],
): readonly ToldAgent[] {
  const houses = [HOUSES[engine], ...Object.values(HOUSES)];
  const isOf = (house: readonly ToldAgent[]): boolean =>
    [...authors].every((author) => author === 'user' || house.some(({ name }) => name === author));
  return houses.find(isOf) ?? [];
}
