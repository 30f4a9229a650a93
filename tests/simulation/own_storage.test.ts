import { ownBoundary } from './boundaries/own_storage.js';
import { simulate } from './run/seeds.js';

simulate(ownBoundary, 400);

// The result of a write of two calls is lost, then that of the second call's retry, with `stale: 'reject'`.
simulate(ownBoundary, 1, 53_367_095);
