import { InMemorySessionService } from 'adk-session-wasm';
import { attack, FIRST_SEED } from '../run.js';

const open = () => Promise.resolve(new InMemorySessionService());
attack({ name: 'memory-rest', open }, 140_000, FIRST_SEED);
