// Seeds that rotate:
//
//   SEEDS=5000 npm test -- tests/simulation/runs/runs.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkRuns, seedsFrom } from './seeds.js';

await checkRuns(seedsFrom(FIRST_SEED, Number(process.env.SEEDS ?? 500)));
