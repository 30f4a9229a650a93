import { InMemorySessionService } from 'adk-session-wasm';
import { attack } from '../run.js';

const open = () => Promise.resolve(new InMemorySessionService());
attack({ name: 'memory-rest', open }, 23_000, true);
