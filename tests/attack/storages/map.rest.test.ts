// An adapter over Maps.

import { openSessionService } from 'adk-session-wasm';
import { mapAdapter } from '../../../examples/map_adapter.js';
import { attack } from '../run.js';

attack({ name: 'map', open: () => openSessionService({ storage: mapAdapter() }) }, 6000, true);
