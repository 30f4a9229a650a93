// Cloudflare D1, in miniflare's workerd.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inMiniflare } from '../hosts/miniflare.js';
import { linkPackage } from '../installed.js';

before(() => linkPackage('kysely'));

/** A worker that runs a case of the suite over tables of its own, and answers with what failed. */
const SUITE = `
  import { D1SessionService } from 'adk-session-wasm/database';
  import { conformance } from 'adk-session-wasm/testing';

  async function fetch(request, { DB }) {
    const number = new URL(request.url).searchParams.get('case');
    let opened = 0;
    const cases = conformance((options) => {
      opened += 1;
      return new D1SessionService(DB, { ...options, tablePrefix: \`c\${number}_\${opened}_\` });
    });
    const { name, run } = cases[number];
    const message = await run().then(() => 'holds', (error) => String(error.stack));
    return Response.json({ name, message, count: cases.length });
  }
  export default { fetch };`;

interface Outcome {
  readonly name: string;
  readonly message: string;
  readonly count: number;
}

describe('D1SessionService', () => {
  it('passes the conformance suite', async () => {
    const failed: Outcome[] = [];
    await inMiniflare('d1_suite', SUITE, async ([isolate]) => {
      let count = 1;
      for (let number = 0; number < count; number += 1) {
        const response = await isolate!.fetch(`http://localhost/?case=${number}`);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        const outcome = JSON.parse(text) as Outcome;
        if (outcome.message !== 'holds') failed.push(outcome);
        ({ count } = outcome);
      }
      assert.ok(count > 100);
    });
    assert.deepEqual(failed, []);
  });
});
