// Seeds that rotate:
//
//   SEEDS=100000 npm test -- tests/simulation/cache/http_histories.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkHistories } from './seeds.js';

await checkHistories('http', Number(process.env.SEEDS ?? 1500), FIRST_SEED);
