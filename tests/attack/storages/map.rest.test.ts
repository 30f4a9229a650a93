// An adapter over Maps.

import { openSessionService } from 'adk-session-wasm';
import { mapAdapter } from '../../../examples/map_adapter.js';
import { attack, FIRST_SEED } from '../run.js';

attack(
  { name: 'map', open: () => openSessionService({ storage: mapAdapter() }) },
  36_000,
  FIRST_SEED,
);
