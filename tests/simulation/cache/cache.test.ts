import { checkCaches } from './seeds.js';

const REGRESSIONS = [
  // A handle kept a state value of a dropped edit.
  ...[277_005_575, 277_008_663, 277_010_568],
  // A tab crashed after it had stored a write, before it could tell other tabs. The leading tab did not send the write.
  285_592_993,
  // A client got a version that was cut off, took the server for one that keeps no mutations, and sent a write twice.
  306_717_731,
  // An edit had arrived, and its answer was missing. A read did not show the next edit of the same event.
  756_700_414,
  // The user was deleted while an append waited for its copy. Its values lay over the states of user and app for ever.
  ...[41_030_438, 41_033_005],
  // A tab told the others what it reads, and then heard that the data were forgotten. Nobody followed the feed for it again.
  157_203_410,
  // Two transactions gave shared writes one outbox version. A tab took a write that was to be sent again for a refused one, for ever.
  158_201_083,
  // A read without room for its copy had numbers that later events got too. Its handle missed those.
  157_204_068,
  // An event lay over the copy until its answer came, and another device had replaced it. A handle kept the old text.
  158_205_609,
  // A page of older events had an edited text before the copy had the state that it made. A handle kept the old state.
  83_003_240,
  // The remote had no session, and the tab took its writes back between two pages. The cursor named one of them.
  526,
  // A read showed what waited for a session that the remote did not have. What was then appended to it was taken back.
  157_605_076,
];

await checkCaches(300, 0, REGRESSIONS);
