import { checkCaches } from './seeds.js';

checkCaches(2000);
