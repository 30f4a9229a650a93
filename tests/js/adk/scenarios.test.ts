import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as adk from '@google/adk';

import { InMemorySessionService, openSessionService } from '../../../js/adk/index.js';
import { mapAdapter } from '../../../js/examples/map_adapter.js';
import { differences, expectedDifferences } from './scenarios/differences.js';
import { scenarios } from './scenarios/index.js';
import { observe } from './scenarios/observe.js';

// Half of its agents are announced as deprecated, at each start; and some scenarios make agents fail.
adk.setLogLevel(adk.LogLevel.ERROR);

const services: [name: string, open: () => Promise<adk.BaseSessionService>][] = [
  ['in memory', async () => new InMemorySessionService()],
  ['over an adapter', () => openSessionService({ storage: mapAdapter() })],
];

for (const [name, open] of services) {
  describe(`${name}, as with the framework's own service,`, () => {
    for (const scenario of scenarios) {
      it(scenario.name, async () => {
        const ours = await observe(scenario, adk, await open());
        const theirs = await observe(scenario, adk, new adk.InMemorySessionService());
        assert.deepEqual(ours.saw, scenario.shows);
        assert.deepEqual(differences(ours, theirs), expectedDifferences(scenario));
      });
    }
  });
}
