import { indexedDbIn } from './in_browser.js';

indexedDbIn('firefox', ['other', 'long']);
