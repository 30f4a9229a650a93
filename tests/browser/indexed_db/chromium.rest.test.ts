import { indexedDbIn } from './in_browser.js';

indexedDbIn('chromium', ['long']);
