// Seeds over a real server, through proxies that cut, delay and freeze.

import { after, before, describe } from 'node:test';
import type { Server } from '../js/database/servers.js';
import { type DatabaseBoundary, databaseServerBoundary } from './boundaries/database_server.js';
import { simulateTogether } from './run/seeds.js';

/** @param first the first of the seeds */
export function simulateOnServer(
  kind: 'postgresql' | 'mariadb',
  start: () => Promise<Server>,
  seeds: number,
  first = 0,
): void {
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
    simulateTogether(kind, () => boundary, seeds, first);
  });
}
