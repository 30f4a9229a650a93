import { simulateCaches } from './cache_seeds.js';

simulateCaches(200);
