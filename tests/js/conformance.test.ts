// The conformance suite in TypeScript: over memory, and over adapters that are synchronous, that are slow, and that
// retry every write.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { mapAdapter } from '../../js/examples/map_adapter.js';
import { InMemorySessionService, type StorageAdapter } from '../../js/index.js';
import type { Case } from '../../js/testing/case.js';
import { type OpenStorage, runCase } from '../../js/testing/run_case.js';

const file = new URL('../../src/storage/conformance/cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];

function conforms(title: string, openStorage: OpenStorage): void {
  describe(title, { concurrency: 8 }, () => {
    for (const testCase of cases) it(testCase.name, () => runCase(testCase, openStorage));
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
    delete: (request) => later(() => adapter.delete(request)),
  };
}

/** Makes each write call `decide` three times: only the last result counts. */
function retrying(): StorageAdapter {
  const adapter = mapAdapter();
  const write: StorageAdapter['append'] = (request, decide) =>
    adapter.append(request, (found) => {
      decide({ events: [], changed: [], floor: 0 });
      decide(found);
      return decide(found);
    });
  return { ...adapter, create: write, append: write };
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
conforms('a map that stores groups', () => grouping(mapAdapter(), false));
conforms('a map that stores groups and answers late', () => grouping(late(), false));
conforms('a map that stores parts of groups', () => grouping(mapAdapter(), true));

describe('the conformance suite', () => {
  it('reports faults of an adapter', async () => {
    const keepsAll = (): StorageAdapter => ({ ...mapAdapter(), delete: () => undefined });
    const failed: string[] = [];
    for (const testCase of cases) {
      await runCase(testCase, keepsAll).catch(() => failed.push(testCase.name));
    }
    assert.ok(failed.includes('a session that is created again starts empty'));
    assert.ok(!failed.includes('a created session is returned completely'));
  });

  it('names the failed step and the reason', async () => {
    const testCase: Case = {
      name: 'wrong',
      steps: [{ op: 'createSession' }, { op: 'getSession', expect: { state: { a: 1 } } }],
    };
    await assert.rejects(
      runCase(testCase, () => 'memory'),
      {
        message: 'step 2: getSession: .state has no key "a", but should',
      },
    );
  });
});
