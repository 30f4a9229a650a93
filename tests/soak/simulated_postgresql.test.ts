// Seeds over PostgreSQL. They are not in `npm test` yet: one of 400 still fails for a call that the model does not excuse. SOAK_SERVER_SEEDS=100 runs fewer.

import { startPostgres } from '../js/database/servers.js';
import { simulateOnServer } from '../simulation/server_seeds.js';

const FIRST = 0;

simulateOnServer('postgresql', startPostgres, Number(process.env.SOAK_SERVER_SEEDS ?? 2000), FIRST);
