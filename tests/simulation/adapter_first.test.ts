// Half of the adapter's seeds. The other half runs in a process of its own beside this one.

import { adapterBoundary } from './boundaries/adapter.js';
import { simulate } from './run/seeds.js';

simulate(adapterBoundary, 9750);
