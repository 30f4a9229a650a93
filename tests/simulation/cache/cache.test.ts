import { checkCaches } from './seeds.js';

checkCaches(1500);
