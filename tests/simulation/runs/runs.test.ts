import { checkRuns } from './seeds.js';

await checkRuns(20, 0, true);
