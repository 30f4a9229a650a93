import { bothServers } from '../../stores/database/both_servers.js';
import { emptied } from '../../stores/database/servers.js';
import { endsElsewhere } from './cancelled_elsewhere.js';

const servers = bothServers();

endsElsewhere('SQLite', (log) => log.sqliteUrl);
endsElsewhere('PostgreSQL', () => emptied('postgresql', servers.postgres));
endsElsewhere('MariaDB', () => emptied('mariadb', servers.mariadb));
