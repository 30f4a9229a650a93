// Runs over HTTP: our handler with a Runner of `@google/adk`, and the real `adk api_server`. runs.rest.test.ts has more cases.

import { after, before, describe, it } from 'node:test';

import { CONVERSATION, GATE, GATE_LEFT } from './cases.js';
import { startTwoServers, type TwoServers } from './two_servers.js';

describe('The handler runs as adk api_server', { timeout: 120_000 }, () => {
  let servers: TwoServers;
  before(async () => {
    servers = await startTwoServers();
  });
  after(() => servers.end());

  it('in a whole conversation of one client: create, ask with partial events, confirm, get, list, delete', () =>
    servers.compareConversation(CONVERSATION));

  for (const test of GATE) {
    it(`${test.what}, streamed`, () => servers.compare(test, '/run_sse with partial events'));
  }
  it(`${GATE_LEFT.what} whose client leaves`, () => servers.compareLeft(GATE_LEFT));
});
