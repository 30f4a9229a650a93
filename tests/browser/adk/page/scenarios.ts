// The scenarios of tests/js/service/adk, over the services that a page has.

import * as adk from '@google/adk';
import { IndexedDbSessionService, InMemorySessionService } from 'adk-session-wasm/adk';
import { clear } from '../../indexed_db/page/bare.js';
import { scenarios } from '../../../js/service/adk/scenarios/index.js';
import { type Observation, observe } from '../../../js/service/adk/scenarios/observe.js';
import type { Scenario } from '../../../js/service/adk/scenarios/scenario.js';
import { slowService } from '../../../js/service/adk/scenarios/slow_service.js';

/** The observations of a scenario over a service of the package and one of the framework. */
export interface Pair {
  ours: Observation;
  theirs: Observation;
}

export type Place = 'memory' | 'database';

export type Played = Record<Place, Pair> | { error: string };

/** Plays all that run in a page, each over empty services; by their names. */
export async function playScenarios(database: string): Promise<Record<string, Played>> {
  const played: Record<string, Played> = {};
  for (const scenario of scenarios) {
    if (scenario.needs === 'node') continue;
    played[scenario.name] = await play(scenario, database);
  }
  return played;
}

async function play(scenario: Scenario, database: string): Promise<Played> {
  const stored = new IndexedDbSessionService({ name: database });
  const over = (service: adk.BaseSessionService) => observe(scenario, adk, service);
  try {
    return {
      memory: {
        ours: await over(new InMemorySessionService()),
        theirs: await over(new adk.InMemorySessionService()),
      },
      database: { ours: await over(stored), theirs: await over(slowService(adk)) },
    };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    await stored.close();
    await clear(database);
  }
}
