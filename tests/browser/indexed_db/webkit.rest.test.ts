import { indexedDbIn } from './in_browser.js';

indexedDbIn('webkit', ['other', 'long']);
