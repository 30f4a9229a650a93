// A million seeds of the fault simulator, different from those of `npm test`. SOAK_SEEDS=1000 runs fewer.

import { ownBoundary } from '../simulation/boundaries/own_storage.js';
import { sqliteBoundary } from '../simulation/boundaries/sqlite.js';
import { simulate } from '../simulation/run/seeds.js';

const FIRST = 1_000_000;
const SEEDS = Number(process.env.SOAK_SEEDS ?? 1_000_000);
const SQLITE_SEEDS = Math.floor(SEEDS / 10);

simulate(ownBoundary, SEEDS - SQLITE_SEEDS, FIRST);
simulate(sqliteBoundary, SQLITE_SEEDS, FIRST);
