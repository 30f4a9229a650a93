// The conformance suite over memory, and over a storage that retries every write.

import { wholeStorage } from './service/whole_storage.js';
import { InMemorySessionService } from '../../js/index.js';
import type { Storage } from '../../js/core/storage/index.js';
import { conforms, OF_STORAGES } from './conforms.js';

/** Makes each write call `decide` three times: only the last result counts. */
function retrying(): Storage {
  const storage = wholeStorage();
  const write: Storage['append'] = (request, decide) =>
    storage.append(request, (found) => {
      decide({ user: undefined, app: undefined, events: [], changed: [], floor: 0 });
      decide(found);
      return decide(found);
    });
  return { ...storage, create: write, append: write };
}

conforms('memory', (options) => new InMemorySessionService(options));
conforms('a map that starts writes over', retrying, OF_STORAGES);
