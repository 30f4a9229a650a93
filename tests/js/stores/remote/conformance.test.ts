// The conformance suite through a handler: over memory here, over databases in `databases.test.ts`.

import { conforms } from './conforms.js';
import { InMemorySessionService } from '../../../../js/index.js';

conforms('memory', (options) => new InMemorySessionService(options));
