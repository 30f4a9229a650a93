/** The cases of the conformance suite that an engine cannot fulfil, and what they end with instead. */

const ANOTHER_ORDER = /\.keys is/;
const REFUSED_ID = /createSession ended with invalid_argument/;
const REFUSED_TEXT = /ended with unserializable/;

export const MARIADB_REFUSALS = {
  'sessions of one time are ordered by id as JavaScript compares strings': REFUSED_ID,
  "no separator in an id can reach another's data": REFUSED_ID,
  'ids of any characters work from create to delete': REFUSED_ID,
  'ids of 512 bytes are the longest, and their last byte counts': REFUSED_ID,
};

export const POSTGRESQL_REFUSALS = {
  ...MARIADB_REFUSALS,
  'fields of an event that nobody knows come back to the letter': REFUSED_TEXT,
  'state keys may hold any text': REFUSED_TEXT,
  'text of any script and control characters come back to the letter': REFUSED_TEXT,
  'a changed key keeps its place, and one that was removed comes back last': ANOTHER_ORDER,
  'the order of members is kept at every level': ANOTHER_ORDER,
};
