import { checkHistories } from './seeds.js';

// In the first of these a handle read a marker before the state that the server computed for it. In the second a tab
// that had slept made a fork without the events that another tab had not sent yet.
await checkHistories('cache', 40, 0, [157_000_241, 990_002_356]);
