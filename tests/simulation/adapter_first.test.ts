// Half of the adapter's seeds. The other half runs in a parallel process.

import { adapterBoundary } from './boundaries/adapter.js';
import { simulate } from './run/seeds.js';

simulate(adapterBoundary, 9750);
