// SEEDS=100000 npm test -- tests/simulation/cache/cache.rest.test.ts    more seeds

import { FIRST_SEED } from '../run/seeds.js';
import { checkCaches } from './seeds.js';

await checkCaches(Number(process.env.SEEDS ?? 15_000), FIRST_SEED);
