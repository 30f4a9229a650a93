// A million seeds of caches over one remote, different from those of `npm test`. SOAK_SEEDS=1000 runs fewer.

import { simulateCaches } from '../simulation/cache/cache_seeds.js';

simulateCaches(Number(process.env.SOAK_SEEDS ?? 1_000_000), 1_000_000);
