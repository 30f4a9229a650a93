import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { differences, expectedDifferences } from '../../js/adk/scenarios/differences.js';
import { scenarios } from '../../js/adk/scenarios/index.js';
import { type Context, inPage } from './context.js';
import type { Played } from './page/scenarios.js';

/** Those of tests/js/adk, in a page: all are played at its one load, and looked at one by one. */
export function frameworkScenarios(context: Context): void {
  let all: Record<string, Played> = {};
  before(() =>
    inPage(context, async (page) => {
      all = await page.call('playScenarios', 'scenario');
    }),
  );

  for (const scenario of scenarios) {
    if (scenario.needs === 'node') continue;
    it(scenario.name, () => {
      const played = all[scenario.name];
      assert.ok(played, 'the page has played it');
      assert.ok('framework' in played, `it failed: ${JSON.stringify(played)}`);
      for (const place of ['database', 'memory'] as const) {
        assert.deepEqual(played[place].saw, scenario.shows, place);
        assert.deepEqual(
          differences(played[place], played.framework),
          expectedDifferences(scenario),
          place,
        );
      }
    });
  }
}
