import { after, before } from 'node:test';

import { type Server, startMariadb, startPostgres } from './servers.js';

/** The servers of a test file. They run while its tests do. */
export interface BothServers {
  readonly postgres: Server;
  readonly mariadb: Server;
}

/**
 * Starts PostgreSQL and MariaDB before the tests of a file or a suite, and removes them afterwards.
 *
 * @param onStart what needs both servers before the first test. A `before` of the file would not do: Node runs those of
 *   a file all at once.
 */
export function bothServers(onStart?: () => Promise<void>): BothServers {
  let postgres: Server;
  let mariadb: Server;
  before(async () => {
    [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
    await onStart?.();
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
