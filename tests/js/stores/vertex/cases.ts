// The cases of the conformance suite, as far as a service over Vertex AI can promise them: `lastUpdateTime` is the
// server's.

import type { JsonObject } from '../../../../js/values/json/rules.js';
import type { Case } from '../../../../js/testing/case.js';
import { CASES, type Expectations } from '../../conforms.js';

export const VERTEX_CASES = CASES.map(adapted);

/** Cases that use a session id twice: ids are unique within an engine, for all users and app names. */
export const WITH_EQUAL_IDS = [
  'users and apps may use the same session id',
  'sessions with equal times and ids are ordered by user',
  'totals follow every create and delete',
  'deleteSessions deletes the sessions of a user that were updated before a time',
  "deleting a user deletes all of their sessions and state, and no one else's",
  "deleting a user's state keeps their sessions",
  'an append stores the event, its delta and its time in one step',
  "no separator in an id can reach another's data",
  'ids with a common beginning are different ids',
];

/** Cases with ids that Vertex AI refuses: its ids are of a few characters. */
export const WITH_OTHER_IDS = [
  'the initial state is split by scope: session, user and app',
  'sessions with equal times are ordered by id as JavaScript compares strings',
  'ids of any characters work from create to delete',
  'names that JavaScript objects inherit are ordinary names',
  'ids compare exactly: case, white space and Unicode form count',
  'ids of 512 bytes are the longest, and their last byte counts',
];

/** What a case ends with that expects otherwise of sessions with the id of another user's. */
export const OF_OTHER_USERS: Expectations = [
  [/getSession: the answer is .* but should be null/, 'a missing session is read as undefined'],
  [
    /totalItems is 5, but should be 4/,
    "without a user all users' sessions are listed, each with its own user's state",
  ],
];

function adapted(testCase: Case): Case {
  const steps = testCase.steps.map((step) =>
    'expect' in step ? { ...step, expect: withoutTimes(step.expect) } : step,
  );
  return { ...testCase, steps };
}

function withoutTimes(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(withoutTimes);
  if (typeof expected !== 'object' || expected === null) return expected;
  const { lastUpdateTime, ...rest } = expected as JsonObject;
  void lastUpdateTime;
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutTimes(value)]));
}

/** Only sessions have states at Vertex AI. These cases change one of a user or an app without a session. */
export const WITH_SHARED_STATES: readonly string[] = [
  'a user who has only state has no session',
  'deleting missing data is no error',
  'revisions continue after states were deleted, and handles stay valid',
  'reject: changes of the user, the app and other sessions make no handle stale',
  'updateState without a session changes user and app, and stores no event',
  'updateState without a user changes only the app',
  'concurrent updates of states lose no key',
  'count: concurrent functions of an app, a user and a session lose nothing',
  'a session created with events can leave the states of user and app as they are',
];
