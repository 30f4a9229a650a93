import { cacheIn } from './cache_in.js';

cacheIn('firefox');
