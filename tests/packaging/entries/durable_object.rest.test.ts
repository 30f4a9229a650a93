// The conformance suite in Cloudflare's workerd, over the SQLite database of a Durable Object.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inWorkerd, LARGE_ROWS, outcomesOf } from '../hosts/workerd.js';
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

describe('A Durable Object', () => {
  it('passes the conformance suite over ctx.storage, except for a row of more than 2 MB', async () => {
    const work = async (origin: string) => {
      const outcomes = await outcomesOf((query) => fetch(`${origin}/${query}`));
      assert.deepEqual(outcomes, LARGE_ROWS);
    };
    await inWorkerd('durable_object', SUITE, work, 'Sessions');
  });
});
