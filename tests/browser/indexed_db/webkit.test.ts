import { indexedDbIn } from './in_browser.js';

indexedDbIn('webkit', ['engine']);
