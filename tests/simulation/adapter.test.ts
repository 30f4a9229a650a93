import { adapterBoundary } from './boundaries/adapter.js';
import { simulate } from './run/seeds.js';

simulate(adapterBoundary, 2000);

// The result of a write of two calls is lost, then that of the second call's retry, with `stale: 'reject'`.
simulate(adapterBoundary, 1, 53_367_095);
