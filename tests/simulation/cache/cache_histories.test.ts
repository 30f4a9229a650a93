import { checkHistories } from './seeds.js';

await checkHistories('cache', 100);
