// The conformance suite finds storages that break a rule, and its messages tell what they did wrong.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { wholeStorage } from '../service/whole_storage.js';
import type { Storage } from '../../../js/core/storage/index.js';
import type { Case } from '../../../js/testing/case.js';
import { runCase } from '../../../js/testing/run_case.js';
import { verbCases } from '../../../js/testing/verb_cases.js';
import { CASES } from '../conforms.js';
import { WRONG } from './wrong_storages.js';

describe('the conformance suite', () => {
  for (const [what, make, name, message] of WRONG) {
    it(`finds a storage that ${what}: ${name}`, async () => {
      const testCase = [...CASES, ...verbCases].find((testCase) => testCase.name === name);
      assert.ok(testCase);
      await assert.rejects(runCase(testCase, make), message);
    });
  }

  it('has an example that refuses a scope and a deletion of a later version', async () => {
    const storage = wholeStorage();
    const later = 'org' as string;
    const request = { key: { appName: 'app' }, scopes: [later as 'app'], eventIds: [], since: 0 };
    const unknown = /does not know 'org'/;
    await assert.rejects(async () => storage.append(request, () => undefined), unknown);
    const deletion = { what: later as 'appState', key: { appName: 'app' } };
    await assert.rejects(async () => storage.delete(deletion), unknown);
  });

  it('reports faults of a storage', async () => {
    const keepsAll = (): Storage => ({ ...wholeStorage(), delete: () => undefined });
    const failed: string[] = [];
    for (const testCase of CASES) {
      await runCase(testCase, keepsAll).catch(() => failed.push(testCase.name));
    }
    assert.ok(failed.includes('a session that is created again starts empty'));
    assert.ok(!failed.includes('a created session is returned completely'));
  });

  it('fails a case whose verb never settles', async () => {
    const never = () => new Promise<never>(() => undefined);
    const hanging = (): Storage => ({ ...wholeStorage(), read: never });
    const [first = assert.fail()] = CASES;
    const message =
      /step 2: it has not ended after 0\.05 s; every verb must settle\n {2}call: getSession/;
    await assert.rejects(runCase(first, hanging, 50), message);
    const refusal = verbCases.find(({ name }) => name.endsWith('a refusal writes nothing'))!;
    await assert.rejects(runCase(refusal, hanging, 50), /has not ended after 0\.05 s/);
  });

  it('reports why a case failed, also if the close fails then', async () => {
    const make = (): Storage => ({
      ...wholeStorage(),
      read: () => ({ user: undefined, app: undefined, events: [] }),
      close: () => Promise.reject(new Error('close failed')),
    });
    const [first = assert.fail()] = CASES;
    await assert.rejects(runCase(first, make), /^Error: step 2: getSession/);
    const write = verbCases.find(({ name }) => name.includes('stored whole'))!;
    await assert.rejects(runCase(write, make), /the session is undefined/);
    const refusal = verbCases.find(({ name }) => name.includes('refused'))!;
    await assert.rejects(runCase(refusal, make), /^Error: close failed/);
  });

  it('names the failed step and the reason', async () => {
    const testCase: Case = {
      name: 'wrong',
      steps: [{ op: 'createSession' }, { op: 'getSession', expect: { state: { a: 1 } } }],
    };
    await assert.rejects(
      runCase(testCase, () => 'memory'),
      {
        message: 'step 2: getSession: .state has no key "a", but should\n  call: getSession {}',
      },
    );
  });
});
