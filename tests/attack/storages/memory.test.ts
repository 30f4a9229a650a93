// Most cases run over memory, because they mainly test the rules of the core.

import { InMemorySessionService } from 'adk-session-wasm';
import { attack } from '../run.js';

attack({ name: 'memory', open: () => Promise.resolve(new InMemorySessionService()) }, 1700);
