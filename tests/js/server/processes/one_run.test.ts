import { bothServers } from '../../stores/database/both_servers.js';
import { emptied } from '../../stores/database/servers.js';
import { runsOnce } from './one_run.js';

const servers = bothServers();

runsOnce('SQLite', (log) => log.sqliteUrl, 5);
runsOnce('PostgreSQL', () => emptied('postgresql', servers.postgres), 5);
runsOnce('MariaDB', () => emptied('mariadb', servers.mariadb), 5);
