import { followsAfterCut } from './cut_feed.js';

followsAfterCut(3000);
