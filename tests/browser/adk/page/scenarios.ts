// The scenarios of tests/js/adk, over the services that a page has.

import * as adk from '@google/adk';
import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm/adk';
import { scenarios } from '../../../js/adk/scenarios/index.js';
import { type Observation, observe } from '../../../js/adk/scenarios/observe.js';
import type { Scenario } from '../../../js/adk/scenarios/scenario.js';

/** What was observed of a scenario over each service, or why it could not be. */
export type Played = Record<Place, Observation> | { error: string };

export type Place = 'database' | 'memory' | 'framework';

/** The scenarios that can be played in a page, in their order. */
const playable = scenarios.filter(({ needs }) => needs !== 'node');

/** Plays them all, each over an empty service of each kind. */
export async function playScenarios(database: string): Promise<Record<string, Played>> {
  const played: Record<string, Played> = {};
  for (const scenario of playable) {
    played[scenario.name] = await play(scenario, `${database}: ${scenario.name}`);
  }
  return played;
}

async function play(scenario: Scenario, database: string): Promise<Played> {
  const service = new IndexedDbSessionService({ name: database });
  try {
    return {
      database: await observe(scenario, adk, service),
      memory: await observe(scenario, adk, new InMemorySessionService()),
      framework: await observe(scenario, adk, new adk.InMemorySessionService()),
    };
  } catch (error) {
    return { error: String(error) };
  } finally {
    await service.close();
  }
}
