import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as adk from '@google/adk';

import {
  asAdkService,
  InMemorySessionService,
  openSessionService,
} from '../../../../js/service/adk/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { wholeStorage } from '../whole_storage.js';
import type { Storage } from '../../../../js/core/storage/index.js';
import { differences, expectedDifferences } from './scenarios/differences.js';
import { scenarios } from './scenarios/index.js';
import { observe } from './scenarios/observe.js';
import { slowService } from './scenarios/slow_service.js';

// Half of its agents are announced as deprecated, at each start; and some scenarios make agents fail.
adk.setLogLevel(adk.LogLevel.ERROR);

/** A storage with delays, like a database server or IndexedDB. */
function slowStorage(): Storage {
  const storage = wholeStorage();
  return {
    ...storage,
    async append(request, decide) {
      await new Promise((resolve) => setTimeout(resolve));
      await storage.append(request, decide);
    },
  };
}

interface Pair {
  readonly name: string;
  ours(): adk.BaseSessionService | Promise<adk.BaseSessionService>;
  theirs(): adk.BaseSessionService;
}

const pairs: readonly Pair[] = [
  {
    name: 'In memory',
    ours: () => new InMemorySessionService(),
    theirs: () => new adk.InMemorySessionService(),
  },
  {
    name: 'Over a storage that answers at once',
    ours: () => openSessionService({ storage: wholeStorage() }),
    theirs: () => new adk.InMemorySessionService(),
  },
  {
    name: 'Over a storage that takes a moment',
    ours: () => openSessionService({ storage: slowStorage() }),
    theirs: () => slowService(adk),
  },
  {
    name: 'In a SQLite database',
    ours: () => asAdkService(new DatabaseSessionService('sqlite::memory:')),
    theirs: () => new adk.InMemorySessionService(),
  },
];

for (const pair of pairs) {
  describe(`${pair.name}, as with the framework's own service,`, () => {
    for (const scenario of scenarios) {
      it(scenario.name, async () => {
        const ours = await observe(scenario, adk, await pair.ours());
        const theirs = await observe(scenario, adk, pair.theirs());
        assert.deepEqual(ours.saw, scenario.shows);
        assert.deepEqual(differences(ours, theirs), expectedDifferences(scenario));
      });
    }
  });
}
