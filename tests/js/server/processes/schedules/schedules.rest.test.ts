import { bothServers } from '../../../stores/database/both_servers.js';
import { emptied } from '../../../stores/database/servers.js';
import { keepsSchedules } from './schedules.js';

const servers = bothServers();

keepsSchedules('SQLite', (log) => log.sqliteUrl, [100, 30]);
keepsSchedules('PostgreSQL', () => emptied('postgresql', servers.postgres), [200, 50]);
keepsSchedules('MariaDB', () => emptied('mariadb', servers.mariadb), [300, 20]);
