// A storage over Maps.

import { openSessionService } from 'adk-session-wasm';
import { wholeStorage } from '../../js/service/whole_storage.js';
import { attack } from '../run.js';

attack({ name: 'map', open: () => openSessionService({ storage: wholeStorage() }) }, 6000, true);
