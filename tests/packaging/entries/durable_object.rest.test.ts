// The conformance suite in Cloudflare's workerd, over the SQLite database of a Durable Object.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inWorkerd } from '../hosts/workerd.js';
import { linkPackage } from '../installed.js';

before(() => linkPackage('kysely'));

/** A worker that runs each case of the suite in a Durable Object of its own, which answers with what failed. */
const SUITE = `
  import { DurableObject } from 'cloudflare:workers';
  import { DatabaseSessionService } from 'adk-session-wasm/database';
  import { conformance } from 'adk-session-wasm/testing';

  export class Sessions extends DurableObject {
    async fetch(request) {
      const number = new URL(request.url).searchParams.get('case');
      const sqlite = this.ctx.storage;
      const cases = conformance((options) => new DatabaseSessionService({ ...options, sqlite }));
      const { name, run } = cases[number];
      const message = await run().then(() => 'holds', (error) => String(error.stack));
      return Response.json({ name, message, count: cases.length });
    }
  }

  const fetch = (request, { Sessions }) =>
    Sessions.get(Sessions.idFromName(request.url)).fetch(request);
  export default { fetch };`;

interface Outcome {
  readonly name: string;
  readonly message: string;
  readonly count: number;
}

describe('A Durable Object', () => {
  it('passes the conformance suite over ctx.storage', async () => {
    const failed: Outcome[] = [];
    const work = async (origin: string) => {
      let count = 1;
      for (let number = 0; number < count; number += 1) {
        const response = await fetch(`${origin}/?case=${number}`);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        const outcome = JSON.parse(text) as Outcome;
        if (outcome.message !== 'holds') failed.push(outcome);
        ({ count } = outcome);
      }
      assert.ok(count > 100);
    };
    await inWorkerd('durable_object', SUITE, work, 'Sessions');
    assert.deepEqual(failed, []);
  });
});
