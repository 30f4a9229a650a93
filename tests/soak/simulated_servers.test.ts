// More seeds over PostgreSQL and MariaDB than those of `npm test`. SOAK_SERVER_SEEDS=100 runs fewer.

import { simulateOnServer } from '../simulation/server_seeds.js';

const FIRST = 1_000_000;
const SEEDS = Number(process.env.SOAK_SERVER_SEEDS ?? 2000);

simulateOnServer('postgresql', SEEDS, FIRST);
simulateOnServer('mariadb', SEEDS, FIRST);
