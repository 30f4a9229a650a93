import { checkHistories } from './seeds.js';

await checkHistories('http', 60);
