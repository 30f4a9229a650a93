// Seeds over MariaDB. They are not in `npm test` yet, as those of PostgreSQL are not. SOAK_SERVER_SEEDS=100 runs fewer.

import { startMariadb } from '../js/database/servers.js';
import { simulateOnServer } from '../simulation/server_seeds.js';

const FIRST = 0;

simulateOnServer('mariadb', startMariadb, Number(process.env.SOAK_SERVER_SEEDS ?? 2000), FIRST);
