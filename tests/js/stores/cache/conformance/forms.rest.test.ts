// The conformance suite through the other forms of a cache: that writes through, that reads first, and out of reach.

import { InMemorySessionService } from '../../../../../js/index.js';
import type { Expectations } from '../../../conforms.js';
import { conforms } from './conforms.js';

const open = (options: ConstructorParameters<typeof InMemorySessionService>[0]) =>
  new InMemorySessionService(options);

conforms('memory, write through', open, { write: 'through' });
conforms('memory, read first', open, { reads: 'network-first', write: 'through' });
/** Whether the remote has a session is not known, so what is written to it is stored. */
const UNKNOWN: Expectations = [
  [
    /ended with ok, but should be refused as not_found/,
    'a session that never existed cannot be appended to',
    'updateState of a missing session is refused',
    'count: keys of scopes that are not named, and a missing session, are refused',
  ],
];

conforms(
  'memory, out of reach',
  open,
  { reads: 'cache-only' },
  { isOffline: true, expectations: UNKNOWN },
);
