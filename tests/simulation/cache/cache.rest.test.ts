import { simulateCaches } from './cache_seeds.js';

const { FIRST_SEED = '200' } = process.env;

simulateCaches(1800, Number(FIRST_SEED));
