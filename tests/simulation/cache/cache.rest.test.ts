// SEEDS=100000 npm test -- tests/simulation/cache/cache.rest.test.ts    seeds that rotate

import { FIRST_SEED } from '../run/seeds.js';
import { checkCaches } from './seeds.js';

// These seeds do not rotate yet: 10,000 random ones have not passed in one run. Of the last 12,000 three failed, and are
// mended since: a handle kept a state value of a dropped edit (SEED=277005575, 277008663, 277010568).
const { SEEDS } = process.env;
if (SEEDS === undefined) await checkCaches(1500, 1_149_755_500);
else await checkCaches(Number(SEEDS), FIRST_SEED);
