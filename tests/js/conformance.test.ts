// The conformance suite in TypeScript: over memory, and over adapters that are synchronous, that are slow, and that
// retry every write.

import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { mapAdapter } from '../../examples/map_adapter.js';
import { InMemorySessionService, type StorageAdapter } from '../../js/index.js';
import { cutPage } from '../../js/storage/cut_page.js';
import { sortList } from '../../js/storage/list_place.js';
import type { Case } from '../../js/testing/case.js';
import { type OpenStorage, runCase, runVerbCase } from '../../js/testing/run_case.js';
import { verbCases } from '../../js/testing/verb_cases.js';

const file = new URL('../../src/conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

function conforms(title: string, openStorage: OpenStorage): void {
  describe(title, { concurrency: 8 }, () => {
    for (const testCase of cases) it(testCase.name, () => runCase(testCase, openStorage));
    for (const testCase of verbCases) it(testCase.name, () => runVerbCase(testCase, openStorage));
  });
}

/** Makes each verb asynchronous, so that others run in between. */
function late(): StorageAdapter {
  const adapter = mapAdapter();
  const pause = () => new Promise((done) => setTimeout(done, Math.random() * 3));
  const later = async <T>(verb: () => T): Promise<Awaited<T>> => {
    await pause();
    const answer = await verb();
    await pause();
    return answer;
  };
  return {
    create: (request, decide) => later(() => adapter.create(request, decide)),
    append: (request, decide) => later(() => adapter.append(request, decide)),
    read: (request) => later(() => adapter.read(request)),
    list: (request) => later(() => adapter.list(request)),
    describe: (request) => later(() => adapter.describe?.(request) ?? false),
    delete: (request) => later(() => adapter.delete(request)),
  };
}

/** Makes each write call `decide` three times: only the last result counts. */
function retrying(): StorageAdapter {
  const adapter = mapAdapter();
  const write: StorageAdapter['append'] = (request, decide) =>
    adapter.append(request, (found) => {
      decide({ user: undefined, app: undefined, events: [], changed: [], floor: 0 });
      decide(found);
      return decide(found);
    });
  return { ...adapter, create: write, append: write };
}

/** Reads pages of events, and of lists after a place, by verbs of their own. */
function paging(): StorageAdapter {
  const adapter = mapAdapter();
  return {
    ...adapter,
    async readPage(request) {
      const { session, events } = await adapter.read({ key: request.key, window: {} });
      return { session, events: cutPage(events, request), eventCount: events.length };
    },
    async listAfter({ limit, ...request }) {
      const all = await adapter.list({ ...request, offset: 0 });
      return { ...all, sessions: sortList(all.sessions, request).slice(0, limit) };
    },
  };
}

/** Stores appends of several sessions together. Now and then it leaves one to be stored alone, or fails. */
function grouping(adapter: StorageAdapter, isMoody: boolean): StorageAdapter {
  let count = 0;
  return {
    ...adapter,
    appendMany: async (writes) => {
      for (const { request, decide } of writes) {
        count += 1;
        if (isMoody && count % 5 === 0) continue;
        if (isMoody && count % 7 === 0) throw new Error('moody');
        await adapter.append(request, decide);
      }
    },
  };
}

conforms('memory', () => 'memory');
conforms('memory, as a service', (options) => new InMemorySessionService(options));
conforms('a map that answers at once', mapAdapter);
conforms('a map that answers late', late);
conforms('a map that starts writes over', retrying);
conforms('a map that reads pages of events', paging);
conforms('a map that stores groups', () => grouping(mapAdapter(), false));
conforms('a map that stores groups and answers late', () => grouping(late(), false));
conforms('a map that stores parts of groups', () => grouping(mapAdapter(), true));
