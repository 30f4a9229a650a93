import { bothServers } from '../../stores/database/both_servers.js';
import { emptied } from '../../stores/database/servers.js';
import { KILL_POINTS, killsWithin, losesNothing } from './killed_server.js';

const servers = bothServers();
const onServers = [...KILL_POINTS, ...killsWithin(0, 1, 2, 4)];

losesNothing('SQLite', (log) => log.sqliteUrl, [...KILL_POINTS, ...killsWithin(0, 1)]);
losesNothing('PostgreSQL', () => emptied('postgresql', servers.postgres), onServers);
losesNothing('MariaDB', () => emptied('mariadb', servers.mariadb), onServers);
