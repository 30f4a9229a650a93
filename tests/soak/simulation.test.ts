// A million seeds of the fault simulator, other ones than `npm test` has.

import { adapterBoundary } from '../simulation/boundaries/adapter.js';
import { simulate } from '../simulation/run/seeds.js';

const FIRST = 1_000_000;

simulate(adapterBoundary, 1_000_000, FIRST);
