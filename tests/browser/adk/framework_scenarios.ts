import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { differences, expectedDifferences } from '../../js/service/adk/scenarios/differences.js';
import { scenarios } from '../../js/service/adk/scenarios/index.js';
import { type Context, inPage } from './context.js';
import type { Place, Played } from './page/scenarios.js';

const PLACES: Record<Place, string> = { memory: 'in memory', database: 'over IndexedDB' };

/** Those of tests/js/service/adk: a page plays them all, and what it has observed is looked at here. */
export function frameworkScenarios(context: Context): void {
  let all: Record<string, Played> = {};
  before(() =>
    inPage(context, async (page) => {
      all = await page.call('playScenarios', 'scenario');
    }),
  );

  for (const [place, name] of Object.entries(PLACES) as [Place, string][]) {
    describe(name, () => {
      for (const scenario of scenarios) {
        if (scenario.needs === 'node') continue;
        it(scenario.name, () => {
          const played = all[scenario.name];
          assert.ok(played, 'the page has played it');
          if ('error' in played) assert.fail(played.error);
          const { ours, theirs } = played[place];
          assert.deepEqual(ours.saw, scenario.shows);
          assert.deepEqual(differences(ours, theirs), expectedDifferences(scenario));
        });
      }
    });
  }
}
