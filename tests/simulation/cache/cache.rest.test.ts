// Seeds that rotate, about 6 minutes of a core. 100,000 take about an hour and a half:
//
//   SEEDS=100000 npm test -- tests/simulation/cache/cache.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkCaches } from './seeds.js';

await checkCaches(Number(process.env.SEEDS ?? 4000), FIRST_SEED);
