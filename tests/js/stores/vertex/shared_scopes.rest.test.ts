// The conformance suite over a server that shares the states of users and apps, and orders no events.

import type { Expectations } from '../../conforms.js';
import { ALWAYS, conforms } from './conforms.js';

const SHARED: Expectations = [
  // The service learns what there was to remove only from the session, once that is made.
  [
    /has the key "a", but should not/,
    'a removal in the initial state removes the key in its scope',
  ],
  [
    // Nothing shows a user's state but a session.
    /has no key "u", but should/,
    'deleting a session deletes its events and state, and nothing else',
  ],
  [/has the key "user:u", but should not/, 'revisions continue after a user was deleted'],
];

conforms({ scopes: 'shared', operations: 'done', pageSize: 40, ordersEvents: false }, [
  ...ALWAYS,
  ...SHARED,
]);
