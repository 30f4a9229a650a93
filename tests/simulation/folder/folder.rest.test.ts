// Seeds that rotate:
//
//   SEEDS=5000 npm test -- tests/simulation/folder/folder.rest.test.ts

import { FIRST_SEED } from '../run/seeds.js';
import { checkFolder } from './seeds.js';

checkFolder(FIRST_SEED, Number(process.env.SEEDS ?? 400));
