// Seeds over MariaDB. They are not in `npm test`: one run of 45 of many did not end, which is not understood.
// SOAK_SERVER_SEEDS=100 runs fewer.

import { startMariadb } from '../js/database/servers.js';
import { simulateOnServer } from '../simulation/server_seeds.js';

simulateOnServer('mariadb', startMariadb, Number(process.env.SOAK_SERVER_SEEDS ?? 2000));
