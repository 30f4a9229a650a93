import { simulateCaches } from './cache_seeds.js';

simulateCaches(2000);
