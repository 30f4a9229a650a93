import { ownBoundary } from './boundaries/own_storage.js';
import { FIRST_SEED, simulate } from './run/seeds.js';

simulate(ownBoundary, 8_000, FIRST_SEED);
