// A million seeds of the fault simulator, other ones than `npm test` has.

import { adapterBoundary } from '../simulation/boundaries/adapter.js';
import { sqliteBoundary } from '../simulation/boundaries/sqlite.js';
import { simulate } from '../simulation/run/seeds.js';

const FIRST = 1_000_000;

simulate(adapterBoundary, 900_000, FIRST);
simulate(sqliteBoundary, 100_000, FIRST);
