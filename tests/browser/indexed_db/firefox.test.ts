import { indexedDbIn } from './in_engine.js';

indexedDbIn('firefox');
