import { checkHistories } from './seeds.js';

// One schedule in which a handle read a marker before the state that the server computed for it.
await checkHistories('cache', 100, 0, [157_000_241]);
