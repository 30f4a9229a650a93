// Seeds that rotate, about a minute of a core:
//
//   SEEDS=100000 npm test -- tests/simulation/cache/cache_histories.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkHistories } from './seeds.js';

await checkHistories('cache', Number(process.env.SEEDS ?? 1000), FIRST_SEED);
