// Seeds over real servers, through proxies that cut, delay and freeze.

import { after, before, describe } from 'node:test';
import { type Server, startMariadb, startPostgres } from '../js/database/servers.js';
import { databaseServerBoundary } from './boundaries/database_server.js';
import { simulateTogether } from './run/seeds.js';
import type { Boundary } from './run/boundary.js';

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
