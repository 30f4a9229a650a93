import type { Expectations } from '../../conforms.js';
import { ALWAYS, conforms } from './conforms.js';

const SESSION_ONLY: Expectations = [
  [
    /getUserState: the state has no key "\w\d", but should/,
    'concurrent creates lose no key of user or app',
    'concurrent appends to different sessions lose no key of user or app',
  ],
  [
    /has no key "user:\w", but should/,
    'creating a session changes the named keys of user and app and keeps the others',
    'a removal in the initial state removes the key in its scope',
    'state is merged and current for any window and after any other writer',
    'deleting a session deletes its events and state, and nothing else',
    'merge: changes of user and app by other sessions reach a handle at the next read',
  ],
];

conforms({ scopes: 'session', operations: 1 }, [...ALWAYS, ...SESSION_ONLY]);
