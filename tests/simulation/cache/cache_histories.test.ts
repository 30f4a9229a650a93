import { checkHistories } from './seeds.js';

// In the first of these a handle read a marker before the state that the server computed for it. In the second a tab
// that had slept made a fork without the events that another tab had not sent yet. In the third a tab crashed, and
// the server's SQLite waited for the end of a turn that had begun in the tab.
await checkHistories('cache', 40, 0, [157_000_241, 990_002_356, 157_600_240]);
