import { FIRST_SEED } from '../run/seeds.js';
import { simulateCaches } from './cache_seeds.js';

simulateCaches(2000, FIRST_SEED);
