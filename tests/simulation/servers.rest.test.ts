import { vertexBoundary } from './boundaries/vertex.js';
import { FIRST_SEED, simulateTogether } from './run/seeds.js';
import { simulateOnServer } from './server_seeds.js';

simulateOnServer('postgresql', 400, FIRST_SEED);
simulateOnServer('mariadb', 400, FIRST_SEED);
simulateTogether(vertexBoundary.name, () => vertexBoundary, 400, FIRST_SEED);
