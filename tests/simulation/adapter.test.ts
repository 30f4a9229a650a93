import { adapterBoundary } from './boundaries/adapter.js';
import { simulate } from './run/seeds.js';

simulate(adapterBoundary, 2000);
