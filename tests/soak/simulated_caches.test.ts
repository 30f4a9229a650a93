// A million seeds of caches over one server, different from those of `npm test`. SOAK_SEEDS=1000 runs fewer.

import { checkCaches } from '../simulation/cache/seeds.js';

await checkCaches(Number(process.env.SOAK_SEEDS ?? 1_000_000), 1_000_000);
