// The other half of the adapter's seeds.

import { adapterBoundary } from './boundaries/adapter.js';
import { simulate } from './run/seeds.js';

simulate(adapterBoundary, 9750, 9750);
