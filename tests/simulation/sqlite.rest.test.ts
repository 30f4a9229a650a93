import { sqliteBoundary } from './boundaries/sqlite.js';
import { FIRST_SEED, simulate } from './run/seeds.js';

simulate(sqliteBoundary, 500, FIRST_SEED);
