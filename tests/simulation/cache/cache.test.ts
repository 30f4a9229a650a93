import { checkCaches } from './seeds.js';

const REGRESSIONS = [
  // A handle kept a state value of a dropped edit.
  ...[277_005_575, 277_008_663, 277_010_568],
  // The leading tab did not send what a tab had stored that crashed before it could tell.
  285_592_993,
  // A client took a version that was cut off for that of a server which keeps no operations, and sent a write twice.
  306_717_731,
  // A read did not show an edit of an edit that had arrived and whose answer was missing.
  756_700_414,
];

await checkCaches(2000, 0, REGRESSIONS);
