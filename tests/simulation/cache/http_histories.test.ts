import { checkHistories } from './seeds.js';

// A tab froze, and the server's SQLite waited for the end of a turn that had begun in the tab.
await checkHistories('http', 60, 0, [157_601_440]);
