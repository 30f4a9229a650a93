import { checkFolder } from './seeds.js';

checkFolder(1, 10, true);
