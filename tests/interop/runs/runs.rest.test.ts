// All cases of runs over HTTP, by each route: our handler with a Runner of `@google/adk`, and the real `adk api_server`.

import { after, before, describe, it } from 'node:test';

import { GATE, REST, REST_LEFT } from './cases.js';
import { MODES, startTwoServers, type TwoServers } from './two_servers.js';

describe('The handler runs as adk api_server', { timeout: 180_000 }, () => {
  let servers: TwoServers;
  before(async () => {
    servers = await startTwoServers();
  });
  after(() => servers.end());

  for (const mode of MODES) {
    for (const test of [...GATE, ...REST]) {
      it(`${test.what}, by ${mode}`, () => servers.compare(test, mode));
    }
  }
  for (const test of REST_LEFT) {
    it(`${test.what} whose client leaves`, () => servers.compareLeft(test));
  }
});
