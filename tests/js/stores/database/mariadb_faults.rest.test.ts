// MariaDB: concurrent writers, deadlocks, long lists and sessions, and a server that is suspended or killed.

import { after, before } from 'node:test';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { letsProgramsEnd, losesNothing, survivesRestarts } from './cases/concurrency.js';
import { deletesUsersInUse, neverDeadlocks } from './cases/deadlocks.js';
import { listsAsModels } from './cases/list_order.js';
import { readsLongSessions } from './cases/long_reads.js';
import { endsWhileSuspended } from './cases/suspended_server.js';
import { emptied, type Server, startMariadb } from './servers.js';

let server: Server;
before(async () => (server = await startMariadb()));
after(() => server.remove());

const newUrl = () => emptied('mariadb', server);
const open = (url: string) => new DatabaseSessionService(url);
const run = async (url: string, statement: string) => {
  const connection = await createConnection(url.replace('mariadb:', 'mysql:'));
  const [rows] = await connection.query(statement);
  await connection.end();
  return rows;
};

losesNothing('MariaDB', newUrl, open);
listsAsModels('MariaDB', newUrl, run);
readsLongSessions('MariaDB', newUrl, open, run);
letsProgramsEnd('MariaDB', newUrl);
neverDeadlocks('MariaDB', newUrl, open, deadlocks);
deletesUsersInUse('MariaDB', newUrl, open);
endsWhileSuspended('MariaDB', () => server, newUrl, (url, options) => new DatabaseSessionService(url, options)); // prettier-ignore
survivesRestarts('MariaDB', newUrl, open, async () => {
  await server.kill();
  await server.start();
});

/** The deadlocks that the server has counted since its start. */
async function deadlocks(): Promise<number> {
  const { port } = server;
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'adk' });
  const statement = "show global status like 'Innodb_deadlocks'";
  const [[row]] = await connection.query<RowDataPacket[]>(statement);
  await connection.end();
  return Number(row?.Value);
}
