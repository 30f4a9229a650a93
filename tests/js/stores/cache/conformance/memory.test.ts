// The conformance suite through a cache over memory. Its other forms are in `forms.rest.test.ts`, those over databases in
// `databases.rest.test.ts`.

import { InMemorySessionService } from '../../../../../js/index.js';
import { conforms } from './conforms.js';

conforms('memory', (options) => new InMemorySessionService(options), {}, { isTimeless: true });
conforms(
  'memory of the same process',
  (options) => new InMemorySessionService(options),
  {},
  { isTimeless: true, isInProcess: true },
);
