import type { Expectations } from '../../../conforms.js';

/** The cases of the conformance suite that an engine cannot fulfil, with the refusals that it gives instead. */
export const MARIADB_REFUSALS: Expectations = [
  [
    /createSession ended with invalid_argument/,
    'sessions with equal times are ordered by id as JavaScript compares strings',
    "no separator in an id can reach another's data",
    'ids of any characters work from create to delete',
    'ids of 512 bytes are the longest, and their last byte counts',
  ],
];

/** What PostgreSQL refuses to store. */
export const POSTGRESQL_REFUSALS: Expectations = [
  ...MARIADB_REFUSALS,
  [
    /ended with unserializable/,
    'unknown fields of an event are returned exactly',
    'state keys may hold any text',
    'text of any script and control characters are returned exactly',
  ],
];

/** The same, and what it returns otherwise. */
export const POSTGRESQL_EXPECTATIONS: Expectations = [
  ...POSTGRESQL_REFUSALS,
  [
    /\.keys is/,
    'a changed key keeps its position, and a removed key returns last',
    'the order of members is kept at every level',
  ],
];

/** What a driver of SQLite refuses that reads a text back only to the first NUL. */
export const NUL_REFUSALS: Expectations = [
  [
    /ended with invalid_argument/,
    'sessions with equal times are ordered by id as JavaScript compares strings',
    "no separator in an id can reach another's data",
    'ids of any characters work from create to delete',
  ],
];
