// Memory, where most of the rules live: most of the cases.

import { InMemorySessionService } from 'adk-session-wasm';
import { attack } from '../run.js';

attack({ name: 'memory', open: () => Promise.resolve(new InMemorySessionService()) }, 151_500);
