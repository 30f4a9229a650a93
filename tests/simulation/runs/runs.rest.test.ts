// Seeds that rotate:
//
//   SEEDS=5000 npm test -- tests/simulation/runs/runs.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkRuns } from './seeds.js';

await checkRuns(Number(process.env.SEEDS ?? 500), FIRST_SEED);
