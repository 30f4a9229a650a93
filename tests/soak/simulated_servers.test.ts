// Seeds over PostgreSQL and MariaDB, through proxies that cut, delay and freeze. They are not in `npm test` yet: one of
// 400 fails for a cut that the model does not excuse. SOAK_SERVER_SEEDS=100 runs fewer.

import { after, before, describe } from 'node:test';
import { type Server, startMariadb, startPostgres } from '../js/database/servers.js';
import {
  type DatabaseBoundary,
  databaseServerBoundary,
} from '../simulation/boundaries/database_server.js';
import { simulateTogether } from '../simulation/run/seeds.js';

const SEEDS = Number(process.env.SOAK_SERVER_SEEDS ?? 2000);

for (const [kind, start] of [
  ['postgresql', startPostgres],
  ['mariadb', startMariadb],
] as const) {
  describe(`the server of ${kind}`, () => {
    let server: Server;
    let boundary: DatabaseBoundary;
    before(async () => {
      server = await start();
      boundary = await databaseServerBoundary(kind, server);
    });
    after(async () => {
      await boundary.end();
      await server.remove();
    });
    simulateTogether(kind, () => boundary, SEEDS);
  });
}
