// The conformance suite over memory, and over an adapter that retries every write.

import { wholeStorage } from './service/whole_storage.js';
import { InMemorySessionService } from '../../js/index.js';
import type { Storage } from '../../js/storage/index.js';
import { conforms } from './conforms.js';

/** Makes each write call `decide` three times: only the last result counts. */
function retrying(): Storage {
  const adapter = wholeStorage();
  const write: Storage['append'] = (request, decide) =>
    adapter.append(request, (found) => {
      decide({ user: undefined, app: undefined, events: [], changed: [], floor: 0 });
      decide(found);
      return decide(found);
    });
  return { ...adapter, create: write, append: write };
}

conforms('memory', (options) => new InMemorySessionService(options));
conforms('a map that starts writes over', retrying);
