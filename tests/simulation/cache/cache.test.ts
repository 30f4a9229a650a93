import { checkCaches } from './seeds.js';

await checkCaches(1500);
