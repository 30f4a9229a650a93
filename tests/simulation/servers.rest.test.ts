import { FIRST_SEED } from './run/seeds.js';
import { simulateOnServer } from './server_seeds.js';

simulateOnServer('postgresql', 400, FIRST_SEED);
simulateOnServer('mariadb', 400, FIRST_SEED);
