import { adapterBoundary } from './boundaries/adapter.js';
import { FIRST_SEED, simulate } from './run/seeds.js';

simulate(adapterBoundary, 16_000, FIRST_SEED);
