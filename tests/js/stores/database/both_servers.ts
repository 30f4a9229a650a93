import { after, before } from 'node:test';

import { type Server, startMariadb, startPostgres } from './servers.js';

/** The servers of a test file. They run while its tests do. */
export interface BothServers {
  readonly postgres: Server;
  readonly mariadb: Server;
}

/** Starts PostgreSQL and MariaDB before the tests of a file or a suite, and removes them afterwards. */
export function bothServers(): BothServers {
  let postgres: Server;
  let mariadb: Server;
  before(async () => {
    [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  });
  after(() => Promise.all([postgres.remove(), mariadb.remove()]));
  return {
    get postgres() {
      return postgres;
    },
    get mariadb() {
      return mariadb;
    },
  };
}
