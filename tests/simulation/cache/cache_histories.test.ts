import { checkHistories } from './seeds.js';

const REGRESSIONS = [
  // A handle read a marker before the state that the server computed for it.
  157_000_241,
  // A tab that had slept made a fork without the events that another tab had not sent yet.
  990_002_356,
  // A tab crashed, and the server's SQLite waited for the end of a turn that had begun in the tab.
  157_600_240,
  // A rewind undid the first event of an append before the second one came, which was then refused.
  157_700_092,
];

await checkHistories('cache', 40, 0, REGRESSIONS);
