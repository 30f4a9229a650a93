import { indexedDbIn } from './in_browser.js';

indexedDbIn('firefox', ['engine']);
