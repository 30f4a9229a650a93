// Seeds over a real server, through proxies that cut, delay and freeze connections.

import { after, before, describe } from 'node:test';
import { type Server, type ServerName, SERVERS } from '../js/stores/database/servers.js';
import { type DatabaseBoundary, databaseServerBoundary } from './boundaries/database_server.js';
import { simulateTogether } from './run/seeds.js';

/** @param first the first seed */
export function simulateOnServer(kind: ServerName, seeds: number, first = 0): void {
  describe(`A server of ${kind} whose requests fail`, () => {
    let server: Server;
    let boundary: DatabaseBoundary;
    before(async () => {
      server = await SERVERS[kind].start();
      boundary = await databaseServerBoundary(kind, server);
    });
    after(async () => {
      await boundary.end();
      await server.remove();
    });
    simulateTogether(kind, () => boundary, seeds, first);
  });
}
