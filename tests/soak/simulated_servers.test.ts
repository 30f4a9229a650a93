// Seeds over real servers, through proxies that cut, delay and freeze. Time is real there: on a machine so busy that a
// server does not answer within the time limit, a seed fails by chance.

import { after, before, describe } from 'node:test';
import { type Server, startMariadb, startPostgres } from '../js/database/servers.js';
import { databaseServerBoundary } from '../simulation/boundaries/database_server.js';
import { simulateTogether } from '../simulation/run/seeds.js';
import type { Boundary } from '../simulation/run/boundary.js';

const SEEDS = 200;

const KINDS = [
  ['postgresql', startPostgres],
  ['mariadb', startMariadb],
] as const;

for (const [kind, start] of KINDS) {
  describe(`the server of ${kind}`, () => {
    let server: Server;
    let boundary: Boundary;
    before(async () => {
      server = await start();
      boundary = await databaseServerBoundary(kind, server);
    });
    after(() => server.remove());
    simulateTogether(kind, () => boundary, SEEDS);
  });
}
