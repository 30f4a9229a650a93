// Seeds over MariaDB. They are not in `npm test` yet: about one of 200 seeds waits for ever in `close()`. The driver's pool
// does not tell of its end after a frozen connection was destroyed, and the service's limit for that passes only while
// a connection is frozen.
// SOAK_SERVER_SEEDS=100 runs fewer.

import { startMariadb } from '../js/database/servers.js';
import { simulateOnServer } from '../simulation/server_seeds.js';

simulateOnServer('mariadb', startMariadb, Number(process.env.SOAK_SERVER_SEEDS ?? 2000));
