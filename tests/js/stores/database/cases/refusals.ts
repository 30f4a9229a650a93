/** The cases of the conformance suite that an engine cannot fulfil, with the refusals that it gives instead. */

const ANOTHER_ORDER = /\.keys is/;
const REFUSED_ID = /createSession ended with invalid_argument/;
const REFUSED_TEXT = /ended with unserializable/;

export const MARIADB_REFUSALS = {
  'sessions with equal times are ordered by id as JavaScript compares strings': REFUSED_ID,
  "no separator in an id can reach another's data": REFUSED_ID,
  'ids of any characters work from create to delete': REFUSED_ID,
  'ids of 512 bytes are the longest, and their last byte counts': REFUSED_ID,
};

export const POSTGRESQL_REFUSALS = {
  ...MARIADB_REFUSALS,
  'unknown fields of an event are returned exactly': REFUSED_TEXT,
  'state keys may hold any text': REFUSED_TEXT,
  'text of any script and control characters are returned exactly': REFUSED_TEXT,
  'a changed key keeps its position, and a removed key returns last': ANOTHER_ORDER,
  'the order of members is kept at every level': ANOTHER_ORDER,
};
