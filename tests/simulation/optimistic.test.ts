import { optimisticBoundary } from './boundaries/optimistic.js';
import { simulate } from './run/seeds.js';

simulate(optimisticBoundary, 200);
