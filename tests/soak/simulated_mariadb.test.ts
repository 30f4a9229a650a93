// More seeds over MariaDB than those of `npm test`. SOAK_SERVER_SEEDS=100 runs fewer.

import { startMariadb } from '../js/database/servers.js';
import { simulateOnServer } from '../simulation/server_seeds.js';

const FIRST = 1_000_000;

simulateOnServer('mariadb', startMariadb, Number(process.env.SOAK_SERVER_SEEDS ?? 2000), FIRST);
